/**
 * The bodies of both endpoints, in the key order of the real ones.
 * Source: schemas/openai.py (r24.11 to main); docs/observed.md#openai-front-end-by-release.
 */
import type { Usage } from './output-text.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** What all bodies of one answer share. */
export interface Envelope {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  /** In events: null, or undefined where the release writes no such key. */
  readonly usage: null | undefined;
}

/** @param usage undefined: no such key */
function body(envelope: Envelope, choices: readonly object[], object: string, usage: Usage | null | undefined): string {
  return JSON.stringify({
    id: envelope.id,
    choices,
    created: envelope.created,
    model: envelope.model,
    system_fingerprint: null,
    object,
    usage,
  });
}

/** One endpoint's way of saying the same things. */
export interface AnswerForm {
  /** First event of a stream, sent before the model has said anything. */
  opening(envelope: Envelope): string | undefined;
  /** Undefined: nothing is sent for this piece. */
  chunk(envelope: Envelope, text: string, finish: FinishReason | null): string | undefined;
  /** Whether this piece is more than may be read; then the model is cancelled and `cut` ends the answer. */
  overflows?(text: string): boolean;
  cut?(envelope: Envelope): string;
  usageChunk(envelope: Envelope, usage: Usage): string;
  whole(envelope: Envelope, text: string, finish: FinishReason, usage: Usage | null): string;
}

function completionChoice(text: string, finish: FinishReason | null): object {
  return { finish_reason: finish, index: 0, logprobs: null, text };
}

export const COMPLETION: AnswerForm = {
  opening: () => undefined,
  chunk: (envelope, text, finish) => body(envelope, [completionChoice(text, finish)], 'text_completion', envelope.usage),
  usageChunk: (envelope, usage) => body(envelope, [], 'text_completion', usage),
  whole: (envelope, text, finish, usage) => body(envelope, [completionChoice(text, finish)], 'text_completion', usage),
};

export function deltaChunk(envelope: Envelope, delta: object, finish: FinishReason | null): string {
  return body(envelope, [{ delta, logprobs: null, finish_reason: finish, index: 0 }], 'chat.completion.chunk', envelope.usage);
}

export function chatWhole(envelope: Envelope, message: object, finish: FinishReason, usage: Usage | null): string {
  return body(envelope, [{ finish_reason: finish, index: 0, message, logprobs: null }], 'chat.completion', usage);
}

export const CHAT: AnswerForm = {
  opening: (envelope) => deltaChunk(envelope, { content: '', function_call: null, role: 'assistant' }, null),
  chunk: (envelope, text, finish) => deltaChunk(envelope, { content: text, function_call: null, role: null }, finish),
  usageChunk: (envelope, usage) => body(envelope, [], 'chat.completion.chunk', usage),
  whole: (envelope, text, finish, usage) =>
    chatWhole(envelope, { content: text, tool_calls: null, role: 'assistant', function_call: null }, finish, usage),
};

/** Chat when one tool must be called: the text becomes its arguments. */
export function toolChat(name: string): AnswerForm {
  return {
    ...CHAT,
    chunk: (envelope, text, finish) => deltaChunk(envelope, { tool_calls: [{ index: 0, function: { name, arguments: text } }] }, finish),
    whole: (envelope, text, finish, usage) =>
      chatWhole(
        envelope,
        {
          content: '',
          tool_calls: [{ id: envelope.id, type: 'function', function: { name, arguments: text } }],
          role: 'assistant',
          function_call: null,
        },
        finish,
        usage,
      ),
  };
}
