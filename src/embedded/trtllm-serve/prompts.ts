/** Prompts as ids. Source: openai_completion and openai_chat, tensorrt_llm/serve/openai_server.py; docs/observed.md#trtllm-serve. */
import type { ChatMessage } from '#core/request/index.ts';
import type { JsonObject, JsonValue } from '#wire/protocol/json-value.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { RequestFailure } from './bad-request.ts';
import type { RequestMessage } from './message-schema.ts';
import type { ChatRequest, CompletionRequest } from './request-schema.ts';

/** One prompt of a completions request, and what `echo` would put in front of its text. */
export interface CompletionPrompt {
  readonly ids: readonly number[];
  readonly echo: string | readonly bigint[];
}

export function completionPrompts(request: CompletionRequest, tokenizer: Tokenizer): CompletionPrompt[] {
  const { prompt } = request;
  const single = typeof prompt === 'string' || typeof prompt[0] === 'bigint';
  if (!single && prompt.length === 0) throw new RequestFailure('list index out of range');
  const prompts = (single ? [prompt] : prompt) as readonly (string | readonly bigint[])[];
  return prompts.map((one) => {
    if (typeof one !== 'string' && one.length === 0) throw new RequestFailure('list index out of range');
    return { ids: typeof one === 'string' ? encoded(one, request, tokenizer) : one.map(Number), echo: one };
  });
}

interface EncodeOptions {
  readonly add_special_tokens: boolean;
  readonly truncate_prompt_tokens: bigint | undefined;
}

/** Cut from the right, as Hugging Face tokenizers cut. */
function encoded(text: string, options: EncodeOptions, tokenizer: Tokenizer): readonly number[] {
  if (!text.isWellFormed())
    throw new RequestFailure('TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]');
  const ids = tokenizer.encode(text, { addSpecialTokens: options.add_special_tokens });
  return options.truncate_prompt_tokens === undefined ? ids : ids.slice(0, Number(options.truncate_prompt_tokens));
}

export interface ChatPrompt {
  readonly ids: readonly number[];
  /** Role of the answer. */
  readonly role: string;
  /** Content of the last message, if it has the answer's role. */
  readonly sameRole: string | undefined;
}

export function chatPrompt(request: ChatRequest, tokenizer: Tokenizer): ChatPrompt {
  const conversation = request.messages.map((message) => ({ role: message.role as ChatMessage['role'], content: contentText(message) }));
  const last = conversation.at(-1);
  if (last === undefined) throw new RequestFailure('list index out of range');
  const role = request.add_generation_prompt ? 'assistant' : last.role;
  return {
    ids: request.prompt_token_ids?.map(Number) ?? encoded(rendered(request, conversation, tokenizer), request, tokenizer),
    role,
    sameRole: last.role === role ? last.content : undefined,
  };
}

function rendered(request: ChatRequest, messages: readonly ChatMessage[], tokenizer: Tokenizer): string {
  const kwargs = Object.fromEntries([...(request.chat_template_kwargs ?? [])].map(([key, value]) => [key, plain(value)]));
  try {
    return tokenizer.applyChatTemplate(messages, {
      addGenerationPrompt: request.add_generation_prompt,
      template: request.chat_template,
      variables: { ...kwargs, documents: request.documents?.map((one) => Object.fromEntries(one)) ?? null, tools: toolsOf(request) },
    });
  } catch (thrown) {
    const { cause } = LockstepError.from(thrown);
    throw new RequestFailure(cause instanceof Error ? cause.message : String((thrown as Error).message));
  }
}

function toolsOf({ tools }: ChatRequest): unknown {
  return (
    tools?.map(({ type, function: { name, description, parameters } }) => ({
      type,
      function: { name, description: description ?? null, parameters: parameters === undefined ? null : plain(parameters) },
    })) ?? null
  );
}

/** Text parts are joined by line ends; this server sees no pictures. */
function contentText({ content }: RequestMessage): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content
    .map((part) => {
      const [type, text] = [part.get('type'), part.get('text')];
      if (type !== 'text') throw new RequestFailure(`Unknown part type: ${JSON.stringify(type).slice(1, -1)}`);
      return typeof text === 'string' ? text : '';
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** JSON as templates read it. */
function plain(value: JsonValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...(value as JsonObject)].map(([key, member]) => [key, plain(member)]));
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'bigint' ? Number(value) : value;
}
