/**
 * Trace settings: unknown keys and unknown levels are passed over in silence.
 * Source: HandleTrace, src/http_server.cc (2.51); docs/observed.md#triton-2-51.
 */
import type { JsonValue } from '#wire/protocol/json-value.ts';
import { CoreError, type TritonCore } from '../core/types.ts';
import { allow, answering, type Exchange, JSON_TYPE, replyJson } from './exchange.ts';
import { asString, find, parseJson } from './json-access.ts';

export function handleTrace(core: TritonCore, exchange: Exchange, model: string): Promise<void> {
  return answering(exchange, JSON_TYPE, () => {
    if (!allow(exchange, ['GET', 'POST'], JSON_TYPE)) return;
    if (model !== '' && !core.modelReady(model, '')) throw new CoreError('INVALID_ARG', `Request for unknown model : ${model}`);
    replyJson(exchange, exchange.method === 'GET' ? core.traceSettings(model) : core.updateTraceSettings(model, change(exchange.body)));
  });
}

const LEVELS = ['OFF', 'TIMESTAMPS', 'TENSORS'];

/** Undefined clears a setting. */
function change(body: Buffer): Record<string, readonly string[] | undefined> {
  const json = parseJson(body);
  const out: Record<string, readonly string[] | undefined> = {};
  if (find(json, 'trace_file') !== undefined)
    throw new CoreError('UNSUPPORTED', 'trace file location can not be updated through network protocol');
  const level = find(json, 'trace_level');
  if (level === null) out['trace_level'] = undefined;
  else if (level !== undefined) {
    const known = levels(level);
    if (known.length > 0) out['trace_level'] = known;
  }
  for (const key of ['trace_rate', 'trace_count', 'log_frequency']) {
    const value = find(json, key);
    if (value === null) out[key] = undefined;
    else if (value !== undefined) out[key] = [whole(key, asString(value))];
  }
  return out;
}

function levels(value: JsonValue): readonly string[] {
  if (!Array.isArray(value)) throw new CoreError('INTERNAL', 'attempt to access JSON non-array as array');
  const given = (value as readonly JsonValue[]).map(asString);
  if (given.includes('OFF') && given.length > 1) throw new CoreError('INVALID_ARG', "Expect only one trace level 'OFF' is specified");
  return LEVELS.filter((level) => given.includes(level));
}

/** std::stoi: leading digits count, 32 bits hold; rate and frequency are printed as unsigned. */
function whole(key: string, text: string): string {
  const digits = /^\s*[-+]?[0-9]+/.exec(text)?.[0];
  if (digits === undefined) throw new CoreError('INVALID_ARG', `Unable to parse '${key}', got: ${text}`);
  const value = Number(digits);
  const counts = key === 'trace_count';
  if (value > 2147483647 || value < -2147483648) {
    const range = counts ? '-1, 2147483647' : '0, 4294967295';
    throw new CoreError('INVALID_ARG', `Unable to parse '${key}', value is out of range [ ${range} ], got: ${text}`);
  }
  if (counts && value < -1) throw new CoreError('INVALID_ARG', `Unable to parse 'trace_count'. Expecting value >= -1, got:${text}`);
  return String(counts ? value : value >>> 0);
}
