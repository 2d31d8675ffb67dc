/** What changed in what a client can see, from one record to another. */
export const CHANGE_CLASSES = ['breaking', 'behaviour', 'addition'] as const;
export type ChangeClass = (typeof CHANGE_CLASSES)[number];

/** One fact of one exchange that is not what it was; undefined: not there. */
export interface Change {
  readonly probe: string;
  readonly fact: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface SeenTwice {
  readonly request: string;
  readonly before: string;
  readonly after: string;
}

/** Changes that are one and the same, seen in one exchange or in many. */
export interface Difference {
  /** Stable for the same change between other versions. */
  readonly id: string;
  readonly kind: ChangeClass;
  /** Requests that were answered and are no more, or that the server dies of. */
  readonly fatal: boolean;
  readonly title: string;
  readonly who: string;
  readonly changes: readonly Change[];
  /** The raw exchanges that show it: of the first changes, not of all. */
  readonly exchanges: readonly SeenTwice[];
  /** Where it was written down before, for the releases in between. */
  readonly known: readonly string[];
}

export interface ContractDiff {
  readonly differences: readonly Difference[];
  /** Exchanges that were made on both sides. */
  readonly compared: number;
  /** Facts that varied within one side, so that nothing is said about them. */
  readonly varying: number;
  /** Exchanges of one side alone, with why. */
  readonly notCompared: readonly { readonly id: string; readonly why: string }[];
}
