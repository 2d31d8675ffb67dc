import type { Verdict } from './types.ts';

/** Which verdicts fail a run, and for whom: data, so that a report can quote it. */
export interface Policy {
  readonly id: 'exact' | 'margins';
  readonly meaning: string;
  readonly fails: readonly Verdict[];
}

export const POLICIES: Readonly<Record<Policy['id'], Policy>> = {
  exact: {
    id: 'exact',
    meaning: 'anything but identical fails: for targets that promise batch invariance (embedded, CPU)',
    fails: ['tie', 'near-tie', 'unjudged', 'unexplained', 'structural', 'contaminated'],
  },
  margins: {
    id: 'margins',
    meaning: 'a flip at a tie or near tie is noise; what cannot be judged is reported',
    fails: ['unexplained', 'structural', 'contaminated'],
  },
};

export function failsUnder(policy: Policy, verdict: Verdict): boolean {
  return policy.fails.includes(verdict);
}
