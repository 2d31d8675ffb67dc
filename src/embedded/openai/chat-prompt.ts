/**
 * Messages to prompt text. Source: parse_chat_messages and TritonLLMEngine.chat (r25.12), where the template's own BOS
 * text stays in the prompt; docs/observed.md#openai-front-end-r25-12.
 */
import type { ChatMessage } from '#core/request/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { httpException, pythonRepr } from '../fastapi/index.ts';
import { clientError } from './client-error.ts';
import type { RequestMessage } from './request-schema.ts';

/** @param keepBos whether the BOS text that the template writes stays, though preprocessing adds BOS again */
export function chatPrompt(tokenizer: Tokenizer, messages: readonly RequestMessage[], keepBos: boolean): string {
  const conversation = messages.map((message) => ({ role: message.role as ChatMessage['role'], content: contentText(message) }));
  let text: string;
  try {
    // The generation prompt is added even after an assistant message.
    text = tokenizer.applyChatTemplate(conversation, { addGenerationPrompt: true });
  } catch (thrown) {
    if (LockstepError.from(thrown).code !== 'chat-template-missing')
      throw httpException(500, thrown instanceof Error ? thrown.message : String(thrown));
    throw httpException(
      500,
      'Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was passed! For information about writing templates and setting the tokenizer.chat_template attribute, please see the documentation at https://huggingface.co/docs/transformers/main/en/chat_templating',
    );
  }
  const bos = tokenizer.bosId === undefined ? undefined : tokenizer.tokenText(tokenizer.bosId);
  return !keepBos && bos !== undefined && text.startsWith(bos) ? text.slice(bos.length) : text;
}

/** Templates print content as Python does: text as it is, parts as a list of dicts, nothing as None. */
function contentText(message: RequestMessage): string {
  if (typeof message.content === 'string') return message.content;
  if (message.content === undefined) return 'None';
  const parts = message.content.map((part) => {
    if (part.type !== 'text') throw clientError(`only text message is supported, but got ${part.type}`);
    return `{'type': 'text', 'text': ${pythonRepr(part.text ?? '')}}`;
  });
  return `[${parts.join(', ')}]`;
}
