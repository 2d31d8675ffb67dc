import { answered, BLS_ROUTES, firstDifference, isRaw, violationOf } from './observed.ts';
import type { Law, Violation } from './types.ts';

const broken = violationOf('log-probs-real');

/** Above this margin a log-probability of 0 in float32 is honest: e^-15 is close to its step below 1. */
const CERTAIN_MARGIN = 15;
/** The largest change between honest runs that was measured: bf16 0.15, with cache reuse 0.16 (docs/determinism.md). */
const NUMERIC_NOISE = 0.2;

/** Greedy log-probabilities were all 0.0 on several releases; a margin computed from them means nothing. */
export const logProbsReal: Law = {
  id: 'log-probs-real',
  statement: 'Log-probabilities are those of the ids served: one each, finite, not above 0, and their sum is the cumulative one.',
  routes: ['raw', 'ensemble', ...BLS_ROUTES, 'generate'],
  applies: (t) => answered(t) && t.logProbs.length > 0,
  check(t, { truth }) {
    const n = isRaw(t) ? t.ids.length : (truth?.ids.length ?? t.logProbs.length);
    if (t.logProbs.length !== n) return [broken('count', `${t.logProbs.length} log-probabilities were served for ${n} ids`)];
    const bad = t.logProbs.findIndex((value) => !(value <= 0) || value === -Infinity);
    if (bad >= 0) return [broken('not-a-log-probability', `${t.logProbs[bad]} at token ${bad}`, { token: bad })];
    const found: Violation[] = [];
    const zero = t.logProbs.findIndex((value, k) => value === 0 && (t.margins[k] ?? Infinity) < CERTAIN_MARGIN);
    const allZero = n > 1 && t.logProbs.every((value) => value === 0);
    if (zero >= 0 || allZero) {
      const at = Math.max(0, zero);
      found.push(
        broken(
          'zero',
          allZero ? `all ${n} log-probabilities are 0` : `0 at token ${at}, where the runner-up is only ${t.margins[at]} behind`,
          { token: at },
        ),
      );
    }
    found.push(...cumulative(t.logProbs, t.cumLogProb));
    if (found.length === 0 && truth !== undefined && truth.logProbs.length >= n && (!isRaw(t) || firstDifference(t.ids, truth.ids) < 0)) {
      const far = t.logProbs.findIndex((value, k) => Math.abs(value - (truth.logProbs[k] as number)) > NUMERIC_NOISE);
      if (far >= 0)
        found.push(
          broken('of-other-ids', `${t.logProbs[far]} at token ${far}, the same id had ${truth.logProbs[far]} before`, { token: far }),
        );
    }
    return found;
  },
};

function cumulative(logProbs: Float32Array, served: number | undefined): Violation[] {
  if (served === undefined) return [];
  const sum = logProbs.reduce((a, b) => a + b, 0);
  // float32 sums of a few hundred terms: 500 roundings of 6e-8 relative, rounded up.
  const tolerance = 1e-4 * Math.max(1, Math.abs(sum));
  if (Math.abs(sum - served) <= tolerance) return [];
  return [broken('sum', `the cumulative value is ${served}, the sum is ${sum}`)];
}
