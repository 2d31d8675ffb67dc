import type { RouteId } from '#core/request/index.ts';
import type { ClaimResult, ComparedCase, Failure, GapCount } from './result.ts';
import type { Verdict } from '#checks/compare/types.ts';
import type { Lab } from './lab.ts';

/** What a claim found. The report turns it into a line, a test result and a JSON entry. */
export interface Outcome {
  /** Cases that truly exercised the claim. */
  readonly n: number;
  readonly k: number;
  readonly unit: string;
  /** True when `k` of `n` is a rate worth a bound; false for structural laws, which one counter-example breaks. */
  readonly rate: boolean;
  readonly notes?: readonly string[];
  readonly verdict?: Verdict | undefined;
  readonly failures: readonly Failure[];
  readonly gaps?: readonly GapCount[];
  readonly gapsGone?: readonly string[];
  readonly cases?: readonly ComparedCase[];
  /** Set when the target does not serve what the claim is about. */
  readonly notServed?: string;
}

/** One test in suites/: laws × routes × cases. */
export interface Claim {
  readonly id: string;
  readonly suite: string;
  readonly statement: string;
  readonly routes: readonly RouteId[];
  readonly laws: readonly string[];
  /** Only in the ordinary run, not when the suite tests itself against faults (slow, or needs a second server). */
  readonly ordinaryOnly?: boolean;
  /** Deadline of the whole claim in milliseconds. */
  readonly deadlineMs?: number;
  run(lab: Lab): Promise<Outcome>;
}

export type { ClaimResult };
