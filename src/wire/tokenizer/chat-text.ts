import type { ChatMessage } from '#core/request/index.ts';
import type { Tokenizer } from './types.ts';

/**
 * A conversation as text for those who encode it with special tokens: rendered, and without the BOS text with which its
 * template begins where the tokenizer adds a BOS itself.
 *
 * Its ids need not be those of the whole rendered text encoded without special tokens: SentencePiece puts a dummy prefix before
 * a text, and none behind a BOS that is written in it. Errors: `chat-template-missing`, `chat-template-failed`.
 */
export function chatText(tokenizer: Tokenizer, messages: readonly ChatMessage[]): string {
  const rendered = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true });
  const { bosId } = tokenizer;
  const bos = bosId === undefined ? undefined : tokenizer.tokenText(bosId);
  const isAdded = bosId !== undefined && tokenizer.encode('', { addSpecialTokens: true })[0] === bosId;
  return isAdded && bos !== undefined && rendered.startsWith(bos) ? rendered.slice(bos.length) : rendered;
}
