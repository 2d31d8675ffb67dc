/**
 * The request schemas of NVIDIA's front end, as a release has them.
 * Source: triton-inference-server/server, python/openai/openai_frontend/schemas/openai.py, branches r24.11 to main.
 */
import type { OpenAiProfile } from '#core/profile/index.ts';
import {
  anything,
  bool,
  dict,
  float,
  int,
  list,
  type Model,
  model,
  named,
  oneOf,
  optional,
  required,
  str,
  union,
  type Validator,
} from '../fastapi/index.ts';

const MAX_SEED = 9223372036854775807n;

const streamOptions = model('StreamOptions', { include_usage: optional(bool, false) });

/** Sampling and limits, in schema order, split where the two schemas differ. */
const penalty = () => optional(float({ ge: -2, le: 2 }), 0);
const seed = () => optional(int({ ge: -MAX_SEED - 1n, le: MAX_SEED }));
const stop = () => optional(union<string | readonly string[]>(str, list(str)));
const count = (fallback?: bigint) => optional(int({ ge: 0n }), fallback);

const COMPLETION_FIELDS = {
  model: required(union<string>(str, oneOf('Model1', ['gpt-3.5-turbo-instruct', 'davinci-002', 'babbage-002']))),
  prompt: required(union<unknown>(str, list(str), list(int()), list(named('PromptItem', list(anything))))),
  best_of: optional(int({ ge: 0n, le: 20n }), 1n),
  echo: optional(bool, false),
  frequency_penalty: penalty(),
  ignore_eos: optional(bool, false),
  logit_bias: optional(dict(int())),
  logprobs: optional(int({ ge: 0n, le: 5n })),
  max_tokens: count(),
  min_tokens: count(),
  n: optional(int({ ge: 1n, le: 128n }), 1n),
  presence_penalty: penalty(),
  seed: seed(),
  stop: stop(),
  stream: optional(bool, false),
  stream_options: optional(streamOptions),
  suffix: optional(str),
  temperature: optional(float({ ge: 0, le: 2 }), 1),
  top_p: optional(float({ ge: 0, le: 1 }), 1),
  user: optional(str),
};

export type CompletionRequest = Model<typeof COMPLETION_FIELDS>;

const functionCall = model('FunctionCall', { arguments: required(str), name: required(str) });
const toolCall = model('ChatCompletionMessageToolCall', {
  id: required(str),
  type: required(str),
  function: required(model('Function1', { name: required(str), arguments: required(str) })),
});

const textPart = model('ChatCompletionRequestMessageContentPartText', { type: required(oneOf('Type1', ['text'])), text: required(str) });
const imagePart = model('ChatCompletionRequestMessageContentPartImage', {
  type: required(oneOf('Type', ['image_url'])),
  image_url: required(model('ImageUrl', { url: required(str), detail: optional(oneOf('Detail', ['auto', 'low', 'high'])) })),
});
export interface ContentPart {
  readonly type: 'text' | 'image_url';
  readonly text?: string;
  readonly image_url?: { readonly url: string; readonly detail: string | undefined };
}
const contentPart = named('ChatCompletionRequestMessageContentPart', union<ContentPart>(textPart, imagePart));

export interface RequestMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool' | 'function';
  readonly content?: string | readonly ContentPart[] | undefined;
  readonly name?: string | undefined;
}

const message = union<RequestMessage>(
  model('ChatCompletionRequestSystemMessage', { content: required(str), role: required(oneOf('Role', ['system'])), name: optional(str) }),
  model('ChatCompletionRequestUserMessage', {
    content: required(union<string | readonly ContentPart[]>(str, list(contentPart))),
    role: required(oneOf('Role1', ['user'])),
    name: optional(str),
  }),
  model('ChatCompletionRequestAssistantMessage', {
    content: optional(str),
    role: required(oneOf('Role2', ['assistant'])),
    name: optional(str),
    tool_calls: optional(list(toolCall)),
    function_call: optional(functionCall),
  }),
  model('ChatCompletionRequestToolMessage', {
    role: required(oneOf('Role3', ['tool'])),
    content: required(str),
    tool_call_id: required(str),
  }),
  model('ChatCompletionRequestFunctionMessage', {
    role: required(oneOf('Role4', ['function'])),
    content: required(str),
    name: required(str),
  }),
);

const functionObject = model('FunctionObject', {
  description: optional(str),
  name: required(str),
  parameters: optional(functionParameters()),
});
/** Where tools have no effect their type is checked all the same. */
const tool = (type: Validator<string>) => model('ChatCompletionTool', { type: required(type), function: required(functionObject) });
const namedTool = (type: Validator<string>) =>
  model('ChatCompletionNamedToolChoice', { type: required(type), function: required(model('Function', { name: required(str) })) });
const toolChoice = (type: Validator<string>) =>
  union<ToolChoice>(oneOf('ChatCompletionToolChoiceOption1', ['none', 'auto', 'required']), namedTool(type));
export type ToolChoice = 'none' | 'auto' | 'required' | { readonly type: string; readonly function: { readonly name: string } };

/** A model that keeps whatever it is given. */
function functionParameters(): Validator<ReadonlyMap<string, unknown>> {
  const shape = model('FunctionParameters', {});
  return {
    label: 'FunctionParameters',
    check(input, loc) {
      const result = shape.check(input, loc);
      return result.ok ? { ok: true, value: input as ReadonlyMap<string, unknown> } : result;
    },
  };
}

const CHAT_MODELS = [
  'gpt-4-turbo',
  'gpt-4-turbo-2024-04-09',
  'gpt-4-0125-preview',
  'gpt-4-turbo-preview',
  'gpt-4-1106-preview',
  'gpt-4-vision-preview',
  'gpt-4',
  'gpt-4-0314',
  'gpt-4-0613',
  'gpt-4-32k',
  'gpt-4-32k-0314',
  'gpt-4-32k-0613',
  'gpt-3.5-turbo',
  'gpt-3.5-turbo-16k',
  'gpt-3.5-turbo-0301',
  'gpt-3.5-turbo-0613',
  'gpt-3.5-turbo-1106',
  'gpt-3.5-turbo-0125',
  'gpt-3.5-turbo-16k-0613',
] as const;

const CHAT_FIELDS = {
  messages: required(list(message, 1)),
  model: required(union<string>(str, oneOf('Model2', CHAT_MODELS))),
  frequency_penalty: penalty(),
  ignore_eos: optional(bool, false),
  logit_bias: optional(dict(int())),
  logprobs: optional(bool, false),
  top_logprobs: optional(int({ ge: 0n, le: 20n })),
  max_completion_tokens: count(),
  max_tokens: count(),
  min_tokens: count(),
  n: optional(int({ ge: 1n, le: 128n }), 1n),
  presence_penalty: penalty(),
  response_format: optional(model('ResponseFormat', { type: optional(oneOf('Type6', ['text', 'json_object']), 'text') })),
  seed: seed(),
  stop: stop(),
  stream: optional(bool, false),
  stream_options: optional(streamOptions),
  temperature: optional(float({ ge: 0, le: 2 }), 0.7),
  top_p: optional(float({ ge: 0, le: 1 }), 1),
  tools: optional(list(tool(str))),
  tool_choice: optional(toolChoice(str)),
  user: optional(str),
  function_call: optional(
    union<unknown>(oneOf('FunctionCall3', ['none', 'auto']), model('ChatCompletionFunctionCallOption', { name: required(str) })),
  ),
  functions: optional(
    list(
      model('ChatCompletionFunctions', { description: optional(str), name: required(str), parameters: optional(functionParameters()) }),
      1,
    ),
  ),
};

export type ChatRequest = Model<typeof CHAT_FIELDS>;

/** The fields that some release knows. */
export const REQUEST_FIELDS = { completions: Object.keys(COMPLETION_FIELDS), chat: Object.keys(CHAT_FIELDS) } as const;

export interface RequestSchemas {
  readonly completion: Validator<CompletionRequest>;
  readonly chat: Validator<ChatRequest>;
}

/** What a release does not know is refused as any unknown field is. */
export function requestSchemas(profile: OpenAiProfile): RequestSchemas {
  const unknown = new Set([
    ...(profile.streamOptions.value === 'unknown' ? ['stream_options'] : []),
    ...(profile.maxCompletionTokens.value ? [] : ['max_completion_tokens']),
  ]);
  const toolType = oneOf('Type2', ['function']);
  const typed =
    profile.tools.value === 'ignored' ? { tools: optional(list(tool(toolType))), tool_choice: optional(toolChoice(toolType)) } : {};
  // Where an empty max_tokens is not sent, the default is the schema's.
  const maxTokens = profile.emptyMaxTokens.value === 'not-sent' ? count(BigInt(profile.defaultMaxTokens.value)) : count();
  const known = <F extends typeof COMPLETION_FIELDS | typeof CHAT_FIELDS>(fields: F): F =>
    Object.fromEntries(Object.entries({ ...fields, max_tokens: maxTokens }).filter(([name]) => !unknown.has(name))) as F;
  return {
    completion: model('CreateCompletionRequest', known(COMPLETION_FIELDS), 'forbid'),
    chat: model('CreateChatCompletionRequest', known({ ...CHAT_FIELDS, ...typed }), 'forbid'),
  };
}

/** Embeddings are validated and then refused. */
export const embeddingRequest = model(
  'CreateEmbeddingRequest',
  {
    input: required(union<unknown>(str, list(int()))),
    model: required(union<string>(str, oneOf('Model2', CHAT_MODELS))),
    dimensions: optional(int()),
    encoding_format: optional(str, 'float'),
    user: optional(str),
  },
  'forbid',
);
