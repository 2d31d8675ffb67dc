/** What one target answered, kept so that another can be compared with it when this one runs no more. */
import type { Answer } from '#checks/laws/index.ts';
import type { Request } from '#core/request/index.ts';

export interface AnswersRecord {
  /** Why there is none, where the target does not show ids; '' otherwise. */
  readonly notServed: string;
  /** Whether margins were served: without them no difference can be explained. */
  readonly margins: boolean;
  readonly items: readonly AnsweredRequest[];
}

export interface AnsweredRequest {
  readonly request: Request;
  /** Kind of prompt, as the pool names it. */
  readonly kind: string;
  readonly answer: Answer;
  /** The same request again on the same target, one after the other. */
  readonly repeats: readonly Repeat[];
}

export interface Repeat {
  readonly ids: readonly number[];
  readonly finish: Answer['finish'];
  /** From the request to the first token, in ms. */
  readonly firstTokenMs: number;
  /** Median time between tokens behind the first, in ms; undefined for fewer than three. */
  readonly betweenTokensMs: number | undefined;
  readonly tokensPerSecond: number | undefined;
}

/** One position at which a target was given another's answer up to there. */
export interface ForcedFlip {
  readonly request: string;
  readonly position: number;
  readonly oldId: number;
  readonly newId: number;
  readonly oldMargin: number | undefined;
  readonly newMargin: number | undefined;
  readonly oldRunnerUp: number | undefined;
  readonly newRunnerUp: number | undefined;
}

export interface Forced {
  /** Positions that were looked at behind a first difference. */
  readonly positions: number;
  readonly flips: readonly ForcedFlip[];
}
