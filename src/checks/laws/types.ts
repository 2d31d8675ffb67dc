/** A law is a named property of transcripts: pure, total, the same function for live runs, fixtures and load. */
import type { Transcript } from '#core/transcript/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';

/** What is held to be right for one request: raw's own ids and what follows from them, or a golden. */
export interface Answer {
  readonly promptIds: readonly number[];
  /** Generated ids, EOS excluded. */
  readonly ids: readonly number[];
  /** decode(ids), special tokens skipped. */
  readonly text: string;
  readonly finish: 'eos' | 'length' | 'stop-words';
  /** Per sampled step (the EOS step too); empty when no margins were served. */
  readonly margins: readonly number[];
  readonly runnerUps: readonly number[];
  readonly logProbs: readonly number[];
  /** What the engine gave, where the front end is to serve less of it (a stop phrase that trtllm-serve cuts out). */
  readonly engine?: Answer | undefined;
}

export interface LawContext {
  readonly tokenizer: Tokenizer;
  readonly profile: ReleaseProfile;
  /** The accepted answer to the transcript's request, where the law needs one. */
  readonly truth?: Answer | undefined;
  /** Another transcript that this one must equal: the same request on the same kind of route, alone, cold, earlier … */
  readonly reference?: Transcript | undefined;
  /** Words that belong to the answers or prompts of other requests in flight, and to nothing in this one. */
  readonly foreignMarks?: readonly string[] | undefined;
  /** This client asked for a stop once so many data events had arrived (the stop tensor, or by leaving). */
  readonly cancelAfter?: number | undefined;
}

export interface Violation {
  readonly law: string;
  /** Stable, kebab-case: which way the law was broken. */
  readonly code: string;
  /** One sentence with the facts: what was expected, what was seen, where. */
  readonly text: string;
  /** Where it first shows. */
  readonly at?: { readonly event?: number; readonly token?: number; readonly char?: number };
}

export interface Law {
  readonly id: string;
  /** One sentence: what is always true. */
  readonly statement: string;
  readonly routes: readonly RouteId[] | 'all';
  /** Whether this transcript exercises the law at all; a claim in which nothing did is a failure. */
  applies(t: Transcript, context: LawContext): boolean;
  check(t: Transcript, context: LawContext): readonly Violation[];
}

/** A law that a release breaks in one exact way, wherever the law is checked. */
export interface KnownGap {
  readonly id: string;
  readonly law: string;
  readonly routes: readonly RouteId[];
  readonly mode: 'stream' | 'unary' | 'both';
  /** Which axis of the release profile it belongs to, and the releases that show it. */
  readonly axis: 'core' | 'models' | 'openai';
  readonly releases: readonly string[];
  readonly deviation: string;
  readonly thread: string;
  /** Whether the profile says that its release has the gap, on that route if only one is asked about. */
  listed(profile: ReleaseProfile, route?: RouteId): boolean;
}

/**
 * A known gap of a law about transcripts. `explains` says whether the transcript shows exactly that deviation; any other
 * deviation stays a violation.
 */
export interface Gap extends KnownGap {
  /** Whether a server with the gap breaks the law on this transcript's case: what would show that it was fixed. */
  shows(t: Transcript, context: LawContext): boolean;
  explains(t: Transcript, violation: Violation, context: LawContext): boolean;
}

/** Code of a violation of `cancel-frees` (a law about a server, in suites/): the engine went on to its natural end. */
export const ENGINE_RAN_ON = 'engine-ran-on';
