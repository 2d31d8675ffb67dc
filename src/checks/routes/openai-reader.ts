import { FLAG, type TranscriptBuilder } from '#core/transcript/index.ts';
import type { ChatChoice, CompletionChoice, OpenAiUsage } from '#wire/clients/index.ts';
import type { PayloadReader } from './event-exchange.ts';

/** What one choice carries: a text, or undefined when it has none. */
interface Piece {
  readonly text: string | undefined;
  /** Only names the role. */
  readonly roleOnly: boolean;
}

/** Whole answers and chunks of /v1/completions. */
export function completionsReader(builder: TranscriptBuilder): PayloadReader {
  return reader(builder, (choice: CompletionChoice) => ({ text: choice.text, roleOnly: false }));
}

/** Whole answers (`message`) and chunks (`delta`) of /v1/chat/completions. */
export function chatReader(builder: TranscriptBuilder): PayloadReader {
  return reader(builder, (choice: ChatChoice) => {
    const part = choice.delta ?? choice.message;
    const text = part?.content ?? undefined;
    const opensWithRole = choice.delta?.role != null && (text ?? '') === '' && choice.finish_reason == null;
    return { text, roleOnly: opensWithRole };
  });
}

function reader<Choice extends { readonly finish_reason?: string | null }>(
  builder: TranscriptBuilder,
  piece: (choice: Choice) => Piece,
): PayloadReader {
  let streamId: unknown;
  return (payload) => {
    const choices = (Array.isArray(payload['choices']) ? payload['choices'] : []) as readonly Choice[];
    const choice = choices[0];
    const { text, roleOnly } = choice === undefined ? { text: undefined, roleOnly: false } : piece(choice);
    const isData = choice !== undefined && !roleOnly;
    builder.event(isData ? FLAG.data : roleOnly ? FLAG.role : 0);
    if (choices.length > 1) builder.error('malformed', `${choices.length} choices, expected 1`);
    // One id for all chunks of an answer; another one belongs to somebody else's.
    if (typeof payload['object'] === 'string') builder.object(payload['object']);
    streamId ??= payload['id'];
    if (payload['id'] !== streamId) builder.foreignId(String(payload['id']));
    if (text !== undefined && text !== '') builder.text(text);
    if (choice?.finish_reason != null) builder.finishReason(choice.finish_reason);
    const usage = payload['usage'] as OpenAiUsage | null | undefined;
    if (usage != null) builder.usage({ promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens });
    return isData;
  };
}
