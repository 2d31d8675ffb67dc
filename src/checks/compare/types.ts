/** How much two answers differ, and whether the difference is noise. */

/** From best to worst; which of them fail a run is policy (policy.ts), not a matter of this type. */
export type Verdict = 'identical' | 'tie' | 'near-tie' | 'unjudged' | 'unexplained' | 'structural' | 'contaminated';
export const VERDICTS: readonly Verdict[] = ['identical', 'tie', 'near-tie', 'unjudged', 'unexplained', 'structural', 'contaminated'];

export interface Divergence {
  /** Index of the first differing token, or undefined when only text was compared. */
  readonly token: number | undefined;
  /** UTF-16 index of the first differing character of the texts. */
  readonly char: number;
  readonly expectedId: number | undefined;
  readonly observedId: number | undefined;
  /** Top-1 minus top-2 log-probability of the accepted answer at that position. */
  readonly margin: number | undefined;
  readonly runnerUp: number | undefined;
}

export interface Comparison {
  readonly verdict: Verdict;
  readonly divergence: Divergence | undefined;
  /** One sentence for the report. */
  readonly text: string;
}
