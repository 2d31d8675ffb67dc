/** Requests of other tools as recordings of a request alone: for `lockstep replay send` and for shrinking. */
import type { Json } from '../message-json.ts';
import { importCurl } from './curl.ts';
import { type Imported, jsonRequest, unreadable } from './imported.ts';
import { type TensorInputs, importTensors } from './tensors.ts';

export type { Imported } from './imported.ts';

type JsonObject = { readonly [key: string]: Json };

/**
 * The requests in a text: a curl line; an input file of perf_analyzer or genai-perf (`{"data": […]}`, of tensors or of payloads); raw
 * records of AIPerf (a line of JSON each, with `payload`); a body of OpenAI's endpoints or of generate.
 *
 * Errors: `import-unreadable`.
 */
export function importRequests(text: string): readonly Imported[] {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  if (/^(?:\$ )?curl\s/.test(trimmed)) return [importCurl(trimmed)];
  const whole = jsonOf(trimmed);
  if (isObject(whole)) return fromObject(whole);
  const lines = trimmed.split('\n').map((line) => jsonOf(line));
  if (trimmed !== '' && lines.every(isObject)) return lines.flatMap((line, i) => fromRecord(line, `line ${i + 1}`));
  throw unreadable('it is neither a curl line, nor JSON of a kind that is known', HINT);
}

const HINT =
  'Known are a curl line, an input file of perf_analyzer or genai-perf, raw records of AIPerf, and bodies of OpenAI and generate (docs/fixtures.md#importing).';

function fromObject(json: JsonObject): readonly Imported[] {
  const { data } = json;
  if (!Array.isArray(data)) return fromRecord(json, 'it');
  // A list in the list is one stream of requests.
  const entries = (data as readonly Json[]).flatMap((entry) => (Array.isArray(entry) ? (entry as readonly Json[]) : [entry]));
  if (entries.length === 0) throw unreadable('its data is empty', HINT);
  return entries.flatMap((entry, i) => {
    const place = `data[${i}]`;
    if (!isObject(entry)) throw unreadable(`${place} is no object`, HINT);
    if ('payload' in entry) return fromPayloads(entry['payload'] ?? null, place);
    return [importTensors(entry as TensorInputs, place, 'Imported from an input file of perf_analyzer.')];
  });
}

/** What perf_analyzer sends to an endpoint of HTTP, and what AIPerf sent. */
function fromPayloads(payload: Json, place: string): readonly Imported[] {
  const all = Array.isArray(payload) ? (payload as readonly Json[]) : [payload];
  return all.map((one) => fromBody(one, place, 'Imported from the payload of a load generator.'));
}

function fromRecord(json: JsonObject, place: string): readonly Imported[] {
  return 'payload' in json ? fromPayloads(json['payload'] ?? null, place) : [fromBody(json, place, 'Imported from a body.')];
}

function fromBody(body: Json, place: string, note: string): Imported {
  if (isObject(body)) {
    if ('messages' in body) return jsonRequest('/v1/chat/completions', body, note);
    if ('prompt' in body) return jsonRequest('/v1/completions', body, note);
    if ('text_input' in body)
      return jsonRequest(`/v2/models/ensemble/${body['stream'] === true ? 'generate_stream' : 'generate'}`, body, note);
  }
  throw unreadable(`${place} has neither messages, nor a prompt, nor text_input`, HINT);
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
