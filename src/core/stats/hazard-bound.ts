import { bisect } from './bisect.ts';

/**
 * Upper bound on the hazard of a first divergence per compared token, after k first divergences in `tokens` tokens:
 * the rate h with P(X ≤ k | Poisson(h · tokens)) = a, a = 1 − confidence. One-sided, exact (Garwood, Biometrika 1936).
 * With k = 0 it is −ln(a) / tokens, close to 3 / tokens at 95 %.
 *
 * A sequence adds the tokens up to its first divergence, or all of them if it has none: after the first differing
 * token everything differs, so there is one event per sequence.
 */
export function hazardBound(k: number, tokens: number, confidence = 0.95): number {
  if (tokens === 0) return 1;
  const alpha = 1 - confidence;
  const mean = k === 0 ? -Math.log(alpha) : bisect(k, k + 20 + 10 * Math.sqrt(k + 1), (m) => alpha - poissonAtMost(k, m));
  return Math.min(1, mean / tokens);
}

function poissonAtMost(k: number, mean: number): number {
  let logTerm = -mean;
  let sum = Math.exp(logTerm);
  for (let i = 1; i <= k; i++) {
    logTerm += Math.log(mean / i);
    sum += Math.exp(logTerm);
  }
  return sum;
}
