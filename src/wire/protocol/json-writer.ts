/**
 * A JSON writer with RapidJSON's taste: no white space, numbers always with a fraction or exponent (`1.0`, `1e30`),
 * integers without, NaN and Infinity as literals, nothing but control characters, quote and backslash escaped.
 * Source: rapidjson/writer.h and internal/dtoa.h (json-double.ts), used with kWriteNanAndInfFlag by triton_json.h (Triton 2.51).
 */
import { jsonDouble } from './json-double.ts';
import type { WritableJson } from './json-value.ts';

export function writeJson(value: WritableJson): Buffer {
  return Buffer.from(latin1Json(value), 'latin1');
}

/** One character per byte, so that strings that are no UTF-8 pass through. */
function latin1Json(value: WritableJson): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return jsonDouble(value);
    case 'string':
      return quoted(Buffer.from(value, 'utf8').toString('latin1'));
    default:
      break;
  }
  if (value instanceof Uint8Array) return quoted(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'));
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, WritableJson>)].map(([k, v]) => `${latin1Json(k)}:${latin1Json(v)}`);
    return `{${members.join(',')}}`;
  }
  return `[${(value as readonly WritableJson[]).map(latin1Json).join(',')}]`;
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f]/g;

function quoted(latin1: string): string {
  return `"${latin1.replace(ESCAPED, escape)}"`;
}

function escape(char: string): string {
  return SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}
