/** What a claim hands to every report; plain data, so that it survives workers, JSON and merging. */
import type { RouteId } from '#core/request/index.ts';
import type { Verdict } from '#checks/compare/types.ts';

export interface CaseView {
  readonly label: string;
  readonly route: RouteId;
  readonly mode: string;
  readonly request: string;
  /** The prompt, shortened for display. */
  readonly prompt: string;
}

/** One side of a difference around the place where it begins. */
export interface SideView {
  readonly name: string;
  readonly ids: readonly number[];
  readonly tokens: readonly string[];
  readonly text: string;
  /** Index into `tokens` where the sides part. */
  readonly at: number;
  /** The same place in the whole answer: a token where ids are served, a character elsewhere. */
  readonly position: number;
  readonly margin?: number | undefined;
}

export interface Failure {
  readonly law: string;
  readonly code: string;
  readonly text: string;
  readonly verdict?: Verdict;
  readonly case?: CaseView;
  readonly sides?: readonly SideView[];
  /** A command that repeats exactly this case. */
  readonly replay?: string;
}

/** Code of the failure of a claim that was not run because the server had died before; reports count these together. */
export const NOT_RUN = 'server-dead';

export interface GapCount {
  readonly id: string;
  readonly law: string;
  readonly thread: string;
  readonly met: number;
}

export interface ClaimResult {
  readonly id: string;
  readonly suite: string;
  /** One sentence: what is claimed. */
  readonly statement: string;
  readonly routes: readonly RouteId[];
  readonly laws: readonly string[];
  readonly status: 'held' | 'failed' | 'not-served';
  readonly verdict: Verdict | undefined;
  readonly evidence: {
    /** Cases that truly exercised the claim. */
    readonly n: number;
    /** Of these, how many differed or broke it: where there is a rate, also the differences that the policy forgives. */
    readonly k: number;
    /** Upper 95 % bound on the rate, or undefined for structural laws, which need no statistics. */
    readonly bound: number | undefined;
    /** What was counted, in plural: "answers", "streams", "cancels in time". */
    readonly unit: string;
    /** Verdict counts other than identical, and other counts worth a word, in print order. */
    readonly notes: readonly string[];
  };
  readonly failures: readonly Failure[];
  readonly gaps: readonly GapCount[];
  /** Gaps that the profile lists, that were exercised and did not show. */
  readonly gapsGone: readonly string[];
  readonly durationMs: number;
}

export interface RunHeader {
  readonly target: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly identity: Readonly<Record<string, string>>;
  readonly profile: string;
  readonly seed: number;
  readonly faults: readonly string[];
  readonly goldens: string;
}
