/** The part of the OpenAI schema that front ends serve (docs/observed.md#openai-front-end-r25-12, docs/observed.md#trtllm-serve). */

export interface OpenAiUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface CompletionChoice {
  readonly index: number;
  readonly text: string;
  readonly finish_reason: string | null;
}

/** `text_completion`, whole or a chunk: same object either way. */
export interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly CompletionChoice[];
  readonly usage?: OpenAiUsage | null;
}

export interface ChatDelta {
  readonly role?: string | null;
  readonly content?: string | null;
}

/** `message` in a whole answer (`chat.completion`), `delta` in a chunk (`chat.completion.chunk`). */
export interface ChatChoice {
  readonly index: number;
  readonly message?: ChatDelta;
  readonly delta?: ChatDelta;
  /** trtllm-serve leaves out what is null in chunks. */
  readonly finish_reason?: string | null;
}

export interface ChatCompletion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ChatChoice[];
  readonly usage?: OpenAiUsage | null;
}

export interface OpenAiModel {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly owned_by: string;
}

/** A request body; unknown top-level fields are refused with 422. */
export type OpenAiBody = Readonly<Record<string, unknown>>;
