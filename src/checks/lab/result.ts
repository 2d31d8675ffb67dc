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

/** A piece of an answer: a token where its ids are known, what one event brought elsewhere. */
export interface PieceView {
  readonly text: string;
  readonly id?: number;
  /** In hexadecimal, of a token that is no text by itself: a part of a character. */
  readonly bytes?: string;
  /** Top-1 minus top-2 log-probability of the step that gave it. */
  readonly margin?: number;
}

/** An answer piece by piece, from some way before the place where it parts to some way behind it. */
export interface AnswerView {
  readonly name: string;
  readonly of: 'tokens' | 'events';
  /** Index of the first piece shown, in the whole answer. */
  readonly first: number;
  /** Tokens or events of the whole answer; one event may stand as two pieces where the answers part. */
  readonly total: number;
  /** Index into `pieces` where the answers part; at their end where this one ends there. */
  readonly at: number;
  readonly pieces: readonly PieceView[];
}

export interface EventView {
  readonly atMs: number;
  /** Names of the bits of `FLAG` (src/core/transcript), and `cancel` for the one after which the client asked for a stop. */
  readonly flags: readonly string[];
  readonly ids?: readonly number[];
  readonly text?: string;
}

/** How an answer came, event by event. */
export interface ExchangeView {
  readonly name: string;
  /** The first and the last of them, when there are many. */
  readonly events: readonly EventView[];
  /** Index into `events` before which some are left out. */
  readonly gapBefore?: number;
  readonly total: number;
  readonly ending: string;
  readonly endedMs: number;
  readonly finishReasons: readonly string[];
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

/** A prompt as ids. */
export interface PromptView {
  readonly name: string;
  readonly ids: readonly number[];
  readonly tokens: readonly string[];
  readonly total: number;
}

/** One answer that was compared with what it should be. */
export interface ComparedCase {
  readonly request: string;
  readonly route: RouteId;
  readonly mode: string;
  readonly verdict: Verdict;
  /** Requests that this lab had in flight while this one was, itself included. */
  readonly atOnce: number;
  /** Route raw only: tokens up to the first divergence, or all of them. */
  readonly tokens?: number;
}

export interface Failure {
  readonly law: string;
  readonly code: string;
  readonly text: string;
  readonly verdict?: Verdict;
  readonly case?: CaseView;
  readonly sides?: readonly SideView[];
  readonly answers?: readonly AnswerView[];
  readonly exchanges?: readonly ExchangeView[];
  /** The prompt as the tokenizer makes ids of it, and as the route gave it to the engine where that is known to differ. */
  readonly prompts?: readonly PromptView[];
  /** Path of the recorded exchange, from the working directory. */
  readonly fixture?: string;
  /** A command that asks the same by hand, over HTTP. */
  readonly curl?: string;
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
  /** Of claims that compare answers: each of them. */
  readonly cases?: readonly ComparedCase[];
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
