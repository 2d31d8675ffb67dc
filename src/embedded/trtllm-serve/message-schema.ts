/**
 * Messages of a chat request. Any role is accepted, since roles of one's own are; content may be missing or null for an
 * assistant only. Source: ChatCompletionMessageParam, tensorrt_llm/serve/openai_protocol.py; docs/observed.md#trtllm-serve.
 *
 * A real server lists the errors of every kind of message; this one names the kind that accepts any role.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import type { Checked, Location, SchemaError, Validator } from '../fastapi/index.ts';

export interface RequestMessage {
  readonly role: string;
  readonly content: string | readonly JsonObject[] | undefined;
}

const CUSTOM = 'CustomChatCompletionMessageParam';
const COMMON = ['role', 'content', 'name'];
/** Keys that OpenAI's own kinds of message have besides. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  assistant: [...COMMON, 'audio', 'function_call', 'refusal', 'tool_calls', 'reasoning'],
  tool: [...COMMON, 'tool_call_id'],
};

export function message(extraKeys: boolean): Validator<RequestMessage> {
  return {
    label: 'ChatCompletionMessageParam',
    check(input, loc): Checked<RequestMessage> {
      if (!isJsonObject(input)) return fail([error('dict_type', 'Input should be a valid dictionary', loc, input)]);
      const errors: SchemaError[] = [];
      const role = input.get('role');
      if (role === undefined) errors.push(error('missing', 'Field required', [...loc, CUSTOM, 'role'], input));
      else if (typeof role !== 'string')
        errors.push(error('string_type', 'Input should be a valid string', [...loc, CUSTOM, 'role'], role));
      const content = contentOf(input, role === 'assistant', loc, errors);
      const known = KEYS[typeof role === 'string' ? role : ''] ?? COMMON;
      if (!extraKeys)
        for (const [key, value] of input)
          if (!known.includes(key)) errors.push(error('extra_forbidden', 'Extra inputs are not permitted', [...loc, CUSTOM, key], value));
      return errors.length > 0 ? fail(errors) : { ok: true, value: { role: role as string, content } };
    },
  };
}

function contentOf(input: JsonObject, mayBeNull: boolean, loc: Location, errors: SchemaError[]): RequestMessage['content'] {
  const content = input.get('content');
  if (content === undefined || typeof content === 'string') return content;
  if (content === null && mayBeNull) return undefined;
  if (!isJsonArray(content)) {
    errors.push(error('string_type', 'Input should be a valid string', [...loc, CUSTOM, 'content', 'str'], content));
    return undefined;
  }
  const place = [...loc, CUSTOM, 'content', 'list[union[…]]'];
  for (const [i, part] of content.entries()) {
    if (!isJsonObject(part)) errors.push(error('dict_type', 'Input should be a valid dictionary', [...place, i], part));
    else if (typeof part.get('type') !== 'string') errors.push(error('missing', 'Field required', [...place, i, 'type'], part));
  }
  return content as readonly JsonObject[];
}

const error = (type: string, msg: string, loc: Location, input: JsonValue): SchemaError => ({ type, loc, msg, input });
const fail = (errors: readonly SchemaError[]): Checked<never> => ({ ok: false, errors });
