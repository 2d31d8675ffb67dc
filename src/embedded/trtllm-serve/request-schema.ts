/**
 * The two request schemas of trtllm-serve, unknown fields forbidden.
 * Source: NVIDIA/TensorRT-LLM tensorrt_llm/serve/openai_protocol.py, main of autumn 2025 and of 2026;
 * docs/observed.md#trtllm-serve.
 */
import type { TrtllmServeProfile } from '#core/profile/index.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import {
  anything,
  before,
  bool,
  dict,
  type Field,
  float,
  int,
  list,
  literal,
  type Model,
  model,
  nullable,
  optional,
  required,
  str,
  union,
  type Validator,
} from '../fastapi/index.ts';
import { message } from './message-schema.ts';

const orElse = <T>(validator: Validator<T>, value: T): Field<T> => ({ validator, fallback: { value } });

export type Prompt = string | readonly string[] | readonly bigint[] | readonly (readonly bigint[])[];

/** Of several members that would accept, Pydantic takes the one that has to convert least: texts stay texts. */
const prompt: Validator<Prompt> = {
  label: 'prompt',
  check(input, loc) {
    const members = union<Prompt>(list(int()), list(list(int())), str, list(str));
    const texts = isJsonArray(input) && input.length > 0 && input.every((item) => typeof item === 'string');
    return texts ? list(str).check(input, loc) : members.check(input, loc);
  },
};

const streamOptions = (facts: TrtllmServeProfile) =>
  model(
    'StreamOptions',
    { include_usage: optional(bool, true), continuous_usage_stats: optional(bool, facts.continuousUsageByDefault.value) },
    'forbid',
  );

const responseFormat = (facts: TrtllmServeProfile) =>
  model(
    'ResponseFormat',
    {
      type: required(
        facts.jsonSchema.value
          ? literal('text', 'json', 'json_schema', 'json_object', 'regex', 'ebnf', 'structural_tag')
          : literal('text', 'json', 'json_object', 'regex', 'ebnf', 'structural_tag'),
      ),
      schema: optional(dict(anything)),
      ...(facts.jsonSchema.value ? { json_schema: optional(dict(anything)) } : {}),
      regex: optional(str),
      ebnf: optional(str),
      format: optional(anything),
    },
    'forbid',
  );

/** What both endpoints have, in two parts, since fields that only one has stand between. */
const shared = (facts: TrtllmServeProfile) => ({
  best_of: optional(int()),
  frequency_penalty: optional(float(), 0),
  logit_bias: optional(dict(float())),
  n: orElse(int(), 1n),
  presence_penalty: optional(float(), 0),
  seed: optional(int()),
  stop: optional(union<string | readonly string[]>(str, list(str)), []),
  stream: optional(bool, false),
  stream_options: optional(streamOptions(facts)),
  temperature: optional(float()),
  top_p: optional(float()),
  user: optional(str),
  lora_request: optional(anything),
  use_beam_search: orElse(bool, false),
  top_k: orElse(int(), 0n),
  top_p_min: orElse(float(), 0),
  min_p: orElse(float(), 0),
  repetition_penalty: orElse(float(), 1),
  length_penalty: orElse(float(), 1),
  early_stopping: orElse(bool, false),
  stop_token_ids: optional(list(int()), []),
  include_stop_str_in_output: orElse(bool, false),
  ignore_eos: orElse(bool, false),
  min_tokens: orElse(int(), 0n),
  skip_special_tokens: orElse(bool, true),
  spaces_between_special_tokens: orElse(bool, true),
  truncate_prompt_tokens: optional(int({ ge: 1n })),
  response_format: optional(responseFormat(facts)),
  disaggregated_params: optional(anything),
});

const completionFields = (facts: TrtllmServeProfile) => ({
  model: required(str),
  prompt: required(prompt),
  echo: optional(bool, false),
  logprobs: optional(int()),
  max_tokens: optional(int()),
  suffix: optional(str),
  ...shared(facts),
  return_context_logits: orElse(bool, false),
  detokenize: orElse(bool, true),
  add_special_tokens: orElse(bool, true),
});

const functionDefinition = model(
  'FunctionDefinition',
  { name: required(str), description: optional(str), parameters: optional(dict(anything)) },
  'forbid',
);
const tool = model(
  'ChatCompletionToolsParam',
  { type: orElse(literal('function'), 'function'), function: required(functionDefinition) },
  'forbid',
);
export interface NamedTool {
  readonly function: { readonly name: string };
}
const namedTool: Validator<NamedTool> = model(
  'ChatCompletionNamedToolChoiceParam',
  {
    function: required(model('ChatCompletionNamedFunction', { name: required(str) }, 'forbid')),
    type: orElse(literal('function'), 'function'),
  },
  'forbid',
);

/** Optional, and without spaces alone when it is there. */
const cacheSalt: Validator<string> = {
  label: 'str',
  check(input, loc) {
    const result = str.check(input, loc);
    if (!result.ok || result.value.trim() !== '') return result;
    const text = "Parameter 'cache_salt' must be a non-empty string if provided.";
    return { ok: false, errors: [{ type: 'value_error', loc, msg: `Value error, ${text}`, input, ctx: new Map([['error', text]]) }] };
  },
};

const chatFields = (facts: TrtllmServeProfile) => ({
  messages: required(list(message(facts.extraMessageKeys.value))),
  prompt_token_ids: optional(list(int())),
  model: required(str),
  logprobs: optional(bool, false),
  top_logprobs: optional(int(), 0n),
  max_completion_tokens: { ...optional(int()), alias: 'max_tokens' },
  ...shared(facts),
  tools: optional(list(tool)),
  tool_choice: optional(union<'none' | 'auto' | NamedTool>(literal('none', 'auto'), namedTool), 'none'),
  reasoning_effort: optional(literal('low', 'medium', 'high')),
  echo: orElse(bool, false),
  add_generation_prompt: orElse(bool, true),
  add_special_tokens: orElse(bool, false),
  documents: optional(list(dict(str))),
  chat_template: optional(str),
  chat_template_kwargs: optional(dict(anything)),
  cache_salt: { validator: nullable(cacheSalt), fallback: { value: undefined } },
});

/** Every field that either endpoint takes. */
export function requestFields(facts: TrtllmServeProfile): readonly string[] {
  return [...new Set([completionFields(facts), chatFields(facts)].flatMap((fields) => Object.keys(fields)))];
}

export type CompletionRequest = Model<ReturnType<typeof completionFields>>;
export type ChatRequest = Model<ReturnType<typeof chatFields>>;

/** Python's truth of a member that may be absent. */
function truthy(value: JsonValue | undefined): boolean {
  if (value instanceof Map) return value.size > 0;
  return isJsonArray(value) ? value.length > 0 : Boolean(value);
}

const noSuffix = (data: JsonObject) => (truthy(data.get('suffix')) ? 'suffix is not supported' : undefined);

/** Numbers only: Python cannot compare a string with 0, and nobody catches that. */
function below0(value: JsonValue): boolean {
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return Number(value) < 0;
  throw new TypeError("'<' not supported between these instances");
}

export function completionSchema(facts: TrtllmServeProfile): Validator<CompletionRequest> {
  return before(
    model('CompletionRequest', completionFields(facts), 'forbid'),
    (data) => {
      const logprobs = data.get('logprobs') ?? null;
      if (!facts.completionLogProbs.value) return truthy(logprobs) ? 'logprobs is not supported' : undefined;
      return logprobs !== null && below0(logprobs) ? 'logprobs must be positive or zero' : undefined;
    },
    (data) =>
      truthy(data.get('stream_options')) && !truthy(data.get('stream'))
        ? 'Stream options can only be defined when stream is true.'
        : undefined,
    noSuffix,
  );
}

export function chatSchema(facts: TrtllmServeProfile): Validator<ChatRequest> {
  const fields = model('ChatCompletionRequest', chatFields(facts), 'forbid');
  // With tools and no choice of one, `auto` is chosen.
  const withChoice: Validator<ChatRequest> = {
    label: fields.label,
    check: (input, loc) =>
      input instanceof Map && !input.has('tool_choice') && truthy((input as JsonObject).get('tools'))
        ? fields.check(new Map([...(input as JsonObject), ['tool_choice', 'auto']]), loc)
        : fields.check(input, loc),
  };
  return before(
    withChoice,
    (data) =>
      (data.get('stream_options') ?? null) !== null && !truthy(data.get('stream'))
        ? 'stream_options can only be set if stream is true'
        : undefined,
    (data) =>
      data.has('tool_choice') && data.get('tool_choice') !== 'none' && (data.get('tools') ?? null) === null
        ? 'When using `tool_choice`, `tools` must be set.'
        : undefined,
    (data) => {
      const top = data.get('top_logprobs') ?? null;
      if (top === null) return undefined;
      if (below0(top)) return 'top_logprobs must be positive or zero';
      return truthy(data.get('logprobs')) ? undefined : 'logprobs must be true when using top_logprobs';
    },
    noSuffix,
  );
}
