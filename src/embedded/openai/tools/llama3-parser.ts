/**
 * Tool calls in the text of Llama 3 models: JSON objects of name and parameters, perhaps behind a tag, perhaps several with
 * "; " between them. Source: engine/utils/tool_call_parsers/llama_tool_call_parser.py (r25.05 to main), for models that are
 * not vLLM.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import { pythonDumps, readPythonJson } from '../../fastapi/index.ts';
import { firstJson, partialJson } from './partial-json.ts';

const TAG = '<|python_tag|>';
const BETWEEN = '; ';
/** What models behind TensorRT-LLM may write after a call. */
const TURN = 'assistant\n\n';

export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

function mayCall(text: string): boolean {
  return text.startsWith(TAG) || text.startsWith('{');
}

/** The calls of a whole answer; undefined: it is text. */
export function toolCalls(fullText: string): readonly ToolCall[] | undefined {
  if (!mayCall(fullText)) return undefined;
  const turn = fullText.indexOf(TURN);
  const text = turn > 0 ? fullText.slice(0, turn) : fullText;
  try {
    const calls: ToolCall[] = [];
    for (let at = text.startsWith(TAG) ? TAG.length : 0; at < text.length;) {
      const { value, length } = firstJson(text.slice(at));
      at += length + BETWEEN.length;
      const call = mustBeObject(value);
      const given = call.has('arguments') ? call.get('arguments') : call.get('parameters');
      const name = call.get('name');
      if (typeof name !== 'string' || given === undefined) throw new Error('no call');
      calls.push({ name, arguments: pythonDumps(given, { ascii: true }) });
    }
    return calls;
  } catch {
    return undefined;
  }
}

/** Parameters under their other name; Python also looks for the word in texts and lists, where it finds it seldom. */
function withArguments(value: JsonValue): JsonValue {
  if (isJsonObject(value)) {
    const parameters = value.get('parameters');
    if (parameters === undefined) return value;
    if (value.has('arguments')) throw new Error('both parameters and arguments');
    return new Map(value).set('arguments', parameters);
  }
  if ((typeof value !== 'string' && !isJsonArray(value)) || value.includes('parameters')) throw new Error('no call');
  return value;
}

function mustBeObject(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

/** A part of a call, as a stream tells it: first its name, then its arguments piece by piece. */
export type CallDelta = { readonly index: number; readonly name: string } | { readonly index: number; readonly arguments: string };

/** What one more piece of text amounts to: text, a part of a call, or nothing yet. */
export type StreamPart = { readonly content: string } | { readonly call: CallDelta } | undefined;

/** The parser of one streamed answer: reads all of it again with every piece. */
export class Llama3Stream {
  /** The calls as they were read the last time. */
  #calls: readonly JsonValue[] = [];
  #current = -1;
  #nameSent = false;
  readonly #sent: string[] = [];

  /** Whether any call was seen, in which case the answer ends with `tool_calls`. */
  get called(): boolean {
    return this.#calls.length > 0;
  }

  push(text: string, delta: string): StreamPart {
    if (!mayCall(text)) return { content: delta };
    try {
      const call = this.#next(text);
      return call === undefined ? undefined : { call };
    } catch {
      return undefined;
    }
  }

  /** At the end: the arguments of the last call that were not told yet, where the last part told some. */
  rest(last: CallDelta): CallDelta {
    if (!('arguments' in last)) return last;
    const index = this.#calls.length - 1;
    const expected = pythonDumps(mustBeObject(this.#calls[index]).get('arguments') ?? new Map(), { ascii: false });
    const told = this.#sent[index] ?? '';
    const before = last.arguments.length > 0 ? told.slice(0, -last.arguments.length) : told;
    return { index, arguments: expected.replace(before, () => '') };
  }

  #next(text: string): CallDelta | undefined {
    const calls: JsonValue[] = [];
    const whole: boolean[] = [];
    for (let at = text.startsWith(TAG) ? TAG.length : 0; at < text.length;) {
      const { value, length } = partialJson(text.slice(at), { strings: this.#nameSent });
      whole.push(isWhole(text.slice(at, at + length)));
      at += length + BETWEEN.length;
      calls.push(withArguments(value));
    }
    if (calls.length === 0) return undefined;
    const current = calls.at(this.#current);
    if (current === undefined) throw new Error('a call went away');
    if (calls.length > this.#current + 1) return this.#moveOn(calls.length - 1, current);
    const call = mustBeObject(current);
    const delta = this.#nameSent ? this.#arguments(call, whole[this.#current] === true) : this.#name(call);
    this.#calls = calls;
    return delta;
  }

  /** A call has begun behind the one that was told: what is left of that one comes first. */
  #moveOn(to: number, from: JsonValue): CallDelta | undefined {
    let delta: CallDelta | undefined;
    const given = this.#current >= 0 ? mustBeObject(from).get('arguments') : undefined;
    if (isTrue(given)) delta = this.#tell(pythonDumps(given as JsonValue, { ascii: true }).slice(this.#told.length));
    this.#current = to;
    this.#nameSent = false;
    this.#sent.push('');
    return delta;
  }

  #name(current: JsonObject): CallDelta | undefined {
    const name = current.get('name');
    if (!isTrue(name)) return undefined;
    if (typeof name !== 'string') throw new Error('a name that is no text');
    this.#nameSent = true;
    return { index: this.#current, name };
  }

  #arguments(current: JsonObject, whole: boolean): CallDelta | undefined {
    const given = current.get('arguments');
    if (!isTrue(given)) return undefined;
    const now = pythonDumps(given as JsonValue, { ascii: true });
    if (whole) return this.#tell(now.slice(this.#told.length));
    const before = this.#calls[this.#current];
    if (before === undefined) throw new Error('a call came out of nowhere');
    const earlier = mustBeObject(before).get('arguments');
    if (!isTrue(earlier)) return undefined;
    const last = pythonDumps(earlier as JsonValue, { ascii: true });
    return last === now ? undefined : this.#tell(commonPrefix(last, now).slice(this.#told.length));
  }

  get #told(): string {
    return this.#sent[this.#current] ?? '';
  }

  #tell(text: string): CallDelta {
    this.#sent[this.#current] = this.#told + text;
    return { index: this.#current, arguments: text };
  }
}

function isWhole(text: string): boolean {
  try {
    readPythonJson(text);
    return true;
  } catch {
    return false;
  }
}

/** Python's truth: nothing, zero and what is empty are false. */
function isTrue(value: JsonValue | undefined): boolean {
  if (value instanceof Map) return value.size > 0;
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

function commonPrefix(a: string, b: string): string {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return a.slice(0, n);
}
