import { LockstepError } from '#core/errors/index.ts';
import { readJson } from '#wire/protocol/json-reader.ts';
import type { JsonValue } from '#wire/protocol/json-value.ts';

/** JSON as Triton writes it: also with the literals NaN, Infinity and -Infinity. Errors: `response-malformed`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return plain(readJson(Buffer.from(text, 'utf8')));
    } catch (thrown) {
      throw new LockstepError('response-malformed', `the answer is not JSON: ${(thrown as Error).message}`, {
        hint: 'Look at the body: a proxy or another service may have answered in place of Triton.',
        context: { body: text.slice(0, 500) },
        cause: thrown,
      });
    }
  }
}

function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Map) return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]));
  return Array.isArray(value) ? value.map((v: JsonValue) => plain(v)) : value;
}
