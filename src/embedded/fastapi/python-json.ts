/**
 * JSON as Python's json module reads and writes it: its error texts and positions, integers kept apart from floats,
 * NaN readable but not writable. Source: CPython Lib/json/decoder.py and scanner.py (3.12); checked against the bodies
 * in request-schema.cases.json.
 */
import type { JsonObject, JsonValue, WritableJson } from '#wire/protocol/json-value.ts';

/** `position` counts code points. */
export class PythonJsonError extends Error {
  readonly position: number;
  constructor(text: string, position: number) {
    super(text);
    this.position = position;
  }
}

/** Python's own recursion limit ends deeper documents; the front end reports them like an undecodable body. */
const MAX_DEPTH = 950;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const SPACE = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const WORDS: readonly (readonly [string, JsonValue])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
];

/** Of two equal keys the last wins. Errors: PythonJsonError; RangeError when nested too deeply. */
export function readPythonJson(text: string): JsonValue {
  const reader = new Reader(text);
  return reader.document();
}

class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): JsonValue {
    this.space();
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) throw this.error('Extra data');
    return value;
  }

  private error(text: string, at = this.at): PythonJsonError {
    return new PythonJsonError(text, Array.from(this.text.slice(0, at)).length);
  }

  private match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const match = expression.exec(this.text);
    if (match !== null) this.at += match[0].length;
    return match;
  }

  private space(): void {
    this.match(SPACE);
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new RangeError('maximum recursion depth exceeded');
    if (this.take('"')) return this.string();
    if (this.take('{')) return this.object(depth);
    if (this.take('[')) return this.array(depth);
    const word = WORDS.find(([name]) => this.text.startsWith(name, this.at));
    if (word !== undefined) {
      this.at += word[0].length;
      return word[1];
    }
    const number = this.match(NUMBER);
    if (number === null) throw this.error('Expecting value');
    return number[1] === undefined && number[2] === undefined ? BigInt(number[0]) : Number(number[0]);
  }

  private object(depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    this.space();
    if (this.take('}')) return members;
    for (;;) {
      if (!this.take('"')) throw this.error('Expecting property name enclosed in double quotes');
      const name = this.string();
      this.space();
      if (!this.take(':')) throw this.error("Expecting ':' delimiter");
      this.space();
      members.set(name, this.value(depth + 1));
      this.space();
      if (this.take('}')) return members;
      if (!this.take(',')) throw this.error("Expecting ',' delimiter");
      this.space();
    }
  }

  private array(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.space();
    if (this.take(']')) return items;
    for (;;) {
      items.push(this.value(depth + 1));
      this.space();
      if (this.take(']')) return items;
      if (!this.take(',')) throw this.error("Expecting ',' delimiter");
      this.space();
    }
  }

  /** The opening quote is already taken. */
  private string(): string {
    const start = this.at - 1;
    let out = '';
    for (;;) {
      out += this.match(PLAIN)?.[0] ?? '';
      if (this.take('"')) return out;
      if (this.at >= this.text.length) throw this.error('Unterminated string starting at', start);
      if (this.text[this.at] !== '\\') throw this.error('Invalid control character at');
      out += this.escape(start);
    }
  }

  private escape(start: number): string {
    const char = this.text[this.at + 1];
    if (char === undefined) throw this.error('Unterminated string starting at', start);
    if (char === 'u') {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.error('Invalid \\uXXXX escape', this.at + 1);
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const simple = ESCAPES[char];
    if (simple === undefined) throw this.error('Invalid \\escape');
    this.at += 2;
    return simple;
  }
}

/** Compact, non-ASCII kept, as Starlette's JSONResponse writes it. Errors: RangeError for NaN and infinities. */
export function writePythonJson(value: WritableJson): string {
  if (value === null) return 'null';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError('Out of range float values are not JSON compliant');
    return pythonFloat(value);
  }
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('utf8'));
  if (value instanceof Map) {
    return `{${[...(value as ReadonlyMap<string, WritableJson>)].map(([k, v]) => `${JSON.stringify(k)}:${writePythonJson(v)}`).join(',')}}`;
  }
  return `[${(value as readonly WritableJson[]).map(writePythonJson).join(',')}]`;
}

/** repr(float): shortest digits, exponents below 1e-4 and from 1e16 on. */
export function pythonFloat(value: number): string {
  const [digits, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (value === 0 || (exponent >= -4 && exponent < 16)) {
    const text = Object.is(value, -0) ? '-0' : String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
