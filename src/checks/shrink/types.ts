/** The words of shrinking: a case that fails, and what is known of its failing. */
import type { Answer } from '#checks/laws/index.ts';
import type { Asked, Company, SeenViolation } from '#checks/recording/index.ts';
import type { Case } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';

/** Everything that has to be done again for a violation to be seen again. */
export interface FailingCase {
  readonly case: Case;
  readonly asked: Asked;
  readonly company: Company;
  readonly violation: SeenViolation;
  /** The accepted answer, where the server itself cannot be asked for it: then neither prompt nor sampling can change. */
  readonly golden?: Answer | undefined;
}

/** The violation as it was seen in one try. */
export interface Sighting {
  readonly text: string;
  /** Of the exchange that showed it; undefined where the server died before it had one. */
  readonly transcript: Transcript | undefined;
  readonly truth: Answer | undefined;
  /** Of the requests before it and beside it, in their order. */
  readonly companions?: readonly Transcript[] | undefined;
  /** Another exchange that it should have been like. */
  readonly reference?: Transcript | undefined;
}

/** Tries, and in how many of them the violation was seen. */
export interface Tries {
  readonly n: number;
  readonly k: number;
}

/** One thing that was taken away. */
export interface Removal {
  /** `prompt`, `max_tokens`, `neighbours`, … */
  readonly what: string;
  readonly from: string;
  readonly to: string;
  /** Requests spent so far. */
  readonly requests: number;
}

/** Why the search ended: nothing more can be taken away, or it was stopped before. */
export type SearchEnd = 'minimal' | 'budget' | 'interrupted' | 'server-died';
