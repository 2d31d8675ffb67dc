import type { JsonValue } from '#wire/protocol/json-value.ts';
import { pythonFloat } from './python-json.ts';

/** json.dumps: a space behind commas and colons. `ascii`: everything else as escapes, as without ensure_ascii=False. */
export function pythonDumps(value: JsonValue, { ascii }: { readonly ascii: boolean }): string {
  const write = (one: JsonValue): string => {
    if (one === null || typeof one === 'boolean' || typeof one === 'bigint') return String(one);
    if (typeof one === 'number')
      return Number.isNaN(one) ? 'NaN' : Number.isFinite(one) ? pythonFloat(one) : one > 0 ? 'Infinity' : '-Infinity';
    if (typeof one === 'string') return quoted(one, ascii);
    if (one instanceof Map) return `{${[...one].map(([key, member]) => `${quoted(key, ascii)}: ${write(member)}`).join(', ')}}`;
    return `[${(one as readonly JsonValue[]).map(write).join(', ')}]`;
  };
  return write(value);
}

function quoted(text: string, ascii: boolean): string {
  const json = JSON.stringify(text);
  return ascii ? json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) : json;
}
