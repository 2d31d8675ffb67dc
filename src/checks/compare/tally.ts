import { zeroDivergenceBound, clopperPearsonUpper, hazardBound } from '#core/stats/index.ts';
import { type Policy, failsUnder } from './policy.ts';
import { VERDICTS, type Comparison, type Verdict } from './types.ts';

/** What many comparisons prove together. */
export interface Tally {
  readonly n: number;
  /** Comparisons that fail under the policy. */
  readonly k: number;
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Upper 95 % bound on the rate of anything but identical, per answer. */
  readonly divergenceBound: number;
  /** Upper 95 % bound on first divergences per compared token. */
  readonly hazardBound: number;
  readonly worst: Verdict;
}

/** `tokens`: compared tokens, each answer up to its first divergence or its end. */
export function tally(comparisons: Iterable<Comparison>, tokens: number, policy: Policy): Tally {
  const counts = Object.fromEntries(VERDICTS.map((v) => [v, 0])) as Record<Verdict, number>;
  let n = 0;
  for (const { verdict } of comparisons) {
    counts[verdict]++;
    n++;
  }
  const k = VERDICTS.reduce((sum, v) => sum + (failsUnder(policy, v) ? counts[v] : 0), 0);
  const diverged = n - counts.identical;
  return {
    n,
    k,
    counts,
    divergenceBound: diverged === 0 ? zeroDivergenceBound(n) : clopperPearsonUpper(diverged, n),
    hazardBound: hazardBound(diverged, tokens),
    worst: VERDICTS.findLast((v) => counts[v] > 0) ?? 'identical',
  };
}
