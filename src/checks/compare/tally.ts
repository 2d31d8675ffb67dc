import { VERDICTS, type Comparison, type Verdict } from './types.ts';

/** What many comparisons found together. */
export interface Tally {
  readonly n: number;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly worst: Verdict;
}

export function tally(comparisons: Iterable<Comparison>): Tally {
  const counts = Object.fromEntries(VERDICTS.map((v) => [v, 0])) as Record<Verdict, number>;
  let n = 0;
  for (const { verdict } of comparisons) {
    counts[verdict]++;
    n++;
  }
  return { n, counts, worst: VERDICTS.findLast((v) => counts[v] > 0) ?? 'identical' };
}
