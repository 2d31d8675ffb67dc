/**
 * Messages to prompt text. Source: parse_chat_messages and TritonLLMEngine.chat (r24.11 to main), where the template's own
 * BOS text stays in the prompt; docs/observed.md#openai-front-end-by-release.
 */
import type { ChatMessage } from '#core/request/index.ts';
import type { OpenAiProfile } from '#core/profile/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { pythonRepr } from '../fastapi/index.ts';
import { clientError } from './client-error.ts';
import type { ChatRequest, ContentPart, RequestMessage } from './request-schema.ts';
import { ServerFailure } from './server-failure.ts';

export interface PromptOptions {
  /** Whether the BOS text that the template writes stays, though preprocessing adds BOS again. */
  readonly keepBos: boolean;
  readonly contentParts: OpenAiProfile['contentParts']['value'];
  /** What the template sees as `tools`; undefined where the release, or the request, has none. */
  readonly tools: ChatRequest['tools'];
}

export function chatPrompt(
  tokenizer: Tokenizer,
  messages: readonly RequestMessage[],
  { keepBos, contentParts, tools }: PromptOptions,
): string {
  const conversation = messages.map((message) => ({
    role: message.role as ChatMessage['role'],
    content: contentText(message, contentParts),
  }));
  let text: string;
  try {
    // The generation prompt is added even after an assistant message.
    text = tokenizer.applyChatTemplate(conversation, { addGenerationPrompt: true, variables: { tools: tools?.map(dumped) ?? null } });
  } catch (thrown) {
    if (LockstepError.from(thrown).code !== 'chat-template-missing')
      throw new ServerFailure(thrown instanceof Error ? thrown.message : String(thrown));
    throw new ServerFailure(
      'Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was passed! For information about writing templates and setting the tokenizer.chat_template attribute, please see the documentation at https://huggingface.co/docs/transformers/main/en/chat_templating',
    );
  }
  const bos = tokenizer.bosId === undefined ? undefined : tokenizer.tokenText(tokenizer.bosId);
  return !keepBos && bos !== undefined && text.startsWith(bos) ? text.slice(bos.length) : text;
}

/** Templates print content as Python does: text as it is, parts as a list, nothing as None. */
function contentText(message: RequestMessage, contentParts: PromptOptions['contentParts']): string {
  if (typeof message.content === 'string') return message.content;
  if (message.content === undefined) return 'None';
  const parts = message.content.map((part) => {
    if (contentParts === 'models') return `ChatCompletionRequestMessageContentPart(root=${modelRepr(part)})`;
    if (part.type !== 'text') throw clientError(`only text message is supported, but got ${part.type}`);
    return `{'type': 'text', 'text': ${pythonRepr(part.text ?? '')}}`;
  });
  return `[${parts.join(', ')}]`;
}

/** A part as Pydantic prints its model; a URL is normalised before. */
function modelRepr({ type, text, image_url: image }: ContentPart): string {
  if (image === undefined) return `ChatCompletionRequestMessageContentPartText(type=<Type1.text: 'text'>, text=${pythonRepr(text ?? '')})`;
  const { url, detail } = image;
  const href = URL.canParse(url) ? new URL(url).href : url;
  // What nobody gave is the schema's default, which is no member of the enumeration.
  const given = detail === undefined ? "'auto'" : `<Detail.${detail}: '${detail}'>`;
  return `ChatCompletionRequestMessageContentPartImage(type=<Type.${type}: '${type}'>, image_url=ImageUrl(url=AnyUrl(${pythonRepr(href)}), detail=${given}))`;
}

/** A tool as Pydantic's model_dump gives it, in the order of the schema. */
function dumped({ type, function: { description, name, parameters } }: NonNullable<ChatRequest['tools']>[number]): object {
  return { type, function: { description: description ?? null, name, parameters: parameters === undefined ? null : plain(parameters) } };
}

/** JSON as templates take it: objects, lists and numbers. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]));
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'bigint' ? Number(value) : value;
}
