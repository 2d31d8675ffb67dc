/** Python's repr, as far as error details show it. Source: CPython Objects/unicodeobject.c, unicode_repr. */
import type { JsonObject, JsonValue, WritableJson } from '#wire/protocol/json-value.ts';
import type { SchemaError } from './pydantic.ts';
import { pythonFloat } from './python-json.ts';

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** Single quotes, or double ones when the text has single quotes and no double ones. */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(
    /[\\\n\r\t]|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu,
    (char) => SHORT[char] ?? escaped(char.codePointAt(0) ?? 0),
  );
  return `${quote}${quote === "'" ? body.replaceAll("'", "\\'") : body}${quote}`;
}

function escaped(codePoint: number): string {
  const hex = codePoint.toString(16);
  if (codePoint < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return codePoint < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** repr of what JSON became in Python. */
function valueRepr(value: JsonValue | WritableJson): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number')
    return Number.isNaN(value) ? 'nan' : Number.isFinite(value) ? pythonFloat(value) : value > 0 ? 'inf' : '-inf';
  if (typeof value === 'string') return pythonRepr(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof Map) {
    return `{${[...(value as JsonObject)].map(([key, member]) => `${pythonRepr(key)}: ${valueRepr(member)}`).join(', ')}}`;
  }
  return `[${(value as readonly JsonValue[]).map(valueRepr).join(', ')}]`;
}

/** str() of FastAPI's RequestValidationError: the list of Pydantic's errors, which quotes what the client sent. */
export function errorsRepr(errors: readonly SchemaError[]): string {
  const entries = errors.map(({ type, loc, msg, input, ctx }) => {
    const parts = loc.map((part) => (typeof part === 'number' ? String(part) : pythonRepr(part)));
    const place = `(${parts.join(', ')}${parts.length === 1 ? ',' : ''})`;
    return `{'type': ${pythonRepr(type)}, 'loc': ${place}, 'msg': ${pythonRepr(msg)}, 'input': ${valueRepr(input)}${ctx === undefined ? '' : `, 'ctx': ${contextRepr(type, ctx)}`}}`;
  });
  return `[${entries.join(', ')}]`;
}

function contextRepr(type: string, ctx: ReadonlyMap<string, WritableJson>): string {
  const error = ctx.get('error');
  return type === 'value_error' && typeof error === 'string' ? `{'error': ValueError(${pythonRepr(error)})}` : valueRepr(ctx);
}
