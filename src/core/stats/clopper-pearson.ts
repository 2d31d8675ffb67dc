import { bisect } from './bisect.ts';
import { incompleteBeta } from './incomplete-beta.ts';

/**
 * Exact upper bound on a rate after k events in n independent trials: the p with P(X ≤ k | n, p) = a, which is the
 * (1 − a) quantile of Beta(k + 1, n − k), a = 1 − confidence. One-sided. Clopper and Pearson, Biometrika 1934.
 */
export function clopperPearsonUpper(k: number, n: number, confidence = 0.95): number {
  if (k >= n) return 1;
  return bisect(0, 1, (p) => incompleteBeta(p, k + 1, n - k) - confidence);
}
