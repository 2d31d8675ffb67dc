/**
 * A JSON reader with RapidJSON's taste: byte offsets, its error texts, NaN and Infinity, integers kept apart from
 * fractions. Source: rapidjson/reader.h and error/en.h, used with kParseNanAndInfFlag by triton_json.h (Triton 2.51).
 */
import { textOfBytes } from './escaped-bytes.ts';
import type { JsonValue } from './json-value.ts';

/** `message` is RapidJSON's text followed by ` at <byte offset>`. */
export class JsonSyntaxError extends Error {
  readonly offset: number;
  constructor(text: string, offset: number) {
    super(`${text} at ${offset}`);
    this.offset = offset;
  }
}

const MAX_UINT64 = 18446744073709551615n;
const MIN_INT64 = -9223372036854775808n;
/** No limit is known for 2.51; this one only keeps the process alive (later releases refuse more than 100). */
const MAX_DEPTH = 2000;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Of two equal keys the first wins, as RapidJSON's FindMember finds it. Strings are not checked to be UTF-8, as there:
 * what is none stands as escaped bytes (escaped-bytes.ts). Errors: JsonSyntaxError.
 */
export function readJson(bytes: Uint8Array): JsonValue {
  return new Reader(bytes).document();
}

class Reader {
  /** One character per byte, so that positions are byte offsets. */
  private readonly text: string;
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.text = this.bytes.toString('latin1');
  }

  document(): JsonValue {
    this.space();
    if (this.at >= this.text.length) throw this.error('The document is empty.');
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) throw this.error('The document root must not be followed by other values.');
    return value;
  }

  private error(text: string, offset = this.at): JsonSyntaxError {
    return new JsonSyntaxError(text, offset);
  }

  private space(): void {
    while (' \n\r\t'.includes(this.text[this.at] ?? '.')) this.at++;
  }

  private value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw this.error('Terminate parsing due to Handler error.');
    switch (this.text[this.at]) {
      case '{':
        return this.object(depth);
      case '[':
        return this.array(depth);
      case '"':
        return this.string();
      case 'n':
        return this.word('null', null);
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      default:
        return this.number();
    }
  }

  private word<T extends JsonValue>(word: string, value: T): T {
    for (const char of word) {
      if (this.text[this.at] !== char) throw this.error('Invalid value.');
      this.at++;
    }
    return value;
  }

  private object(depth: number): JsonValue {
    const members = new Map<string, JsonValue>();
    this.at++;
    this.space();
    if (this.take('}')) return members;
    for (;;) {
      if (this.text[this.at] !== '"') throw this.error('Missing a name for object member.');
      const name = this.string();
      this.space();
      if (!this.take(':')) throw this.error('Missing a colon after a name of object member.');
      this.space();
      const value = this.value(depth + 1);
      if (!members.has(name)) members.set(name, value);
      this.space();
      if (this.take('}')) return members;
      if (!this.take(',')) throw this.error("Missing a comma or '}' after an object member.");
      this.space();
    }
  }

  private array(depth: number): JsonValue {
    const items: JsonValue[] = [];
    this.at++;
    this.space();
    if (this.take(']')) return items;
    for (;;) {
      items.push(this.value(depth + 1));
      this.space();
      if (this.take(']')) return items;
      if (!this.take(',')) throw this.error("Missing a comma or ']' after an array element.");
      this.space();
    }
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private string(): string {
    this.at++;
    let plain = this.at;
    let out = '';
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined || char === '\0') throw this.error('Missing a closing quotation mark in string.');
      if (char === '"') {
        out += textOfBytes(this.bytes.subarray(plain, this.at));
        this.at++;
        return out;
      }
      if (char < ' ') throw this.error('Invalid escape character in string.');
      if (char === '\\') {
        out += textOfBytes(this.bytes.subarray(plain, this.at)) + this.escape();
        plain = this.at;
      } else {
        this.at++;
      }
    }
  }

  private escape(): string {
    const start = this.at;
    const char = this.text[start + 1] ?? '';
    const simple = ESCAPES[char];
    if (simple !== undefined) {
      this.at += 2;
      return simple;
    }
    if (char !== 'u') throw this.error('Invalid escape character in string.', start);
    const high = this.hex(start, start + 2);
    this.at = start + 6;
    // A lone low surrogate passes, as it does there, as the three bytes that the code point would have.
    if (high >= 0xdc00 && high <= 0xdfff) return textOfBytes(Buffer.of(0xed, 0x80 | ((high >> 6) & 0x3f), 0x80 | (high & 0x3f)));
    if (high < 0xd800 || high > 0xdbff) return String.fromCharCode(high);
    if (this.text.slice(this.at, this.at + 2) !== '\\u') throw this.error('The surrogate pair in string is invalid.', start);
    const low = this.hex(start, this.at + 2);
    if (low < 0xdc00 || low > 0xdfff) throw this.error('The surrogate pair in string is invalid.', start);
    this.at += 6;
    return String.fromCharCode(high, low);
  }

  private hex(start: number, at: number): number {
    const digits = this.text.slice(at, at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.error('Incorrect hex digit after \\u escape in string.', start);
    return Number.parseInt(digits, 16);
  }

  private number(): JsonValue {
    const start = this.at;
    const literal = this.literal();
    if (literal !== undefined) return literal;
    NUMBER.lastIndex = start;
    const match = NUMBER.exec(this.text);
    if (match === null) {
      if (this.text[start] === '-') this.at++;
      throw this.error('Invalid value.');
    }
    this.at += match[0].length;
    const next = this.text[this.at];
    if (match[1] === undefined && match[2] === undefined && next === '.') throw this.error('Miss fraction part in number.', this.at + 1);
    if (match[2] === undefined && (next === 'e' || next === 'E')) throw this.error('Miss exponent in number.', this.at + 1);
    if (match[1] === undefined && match[2] === undefined) {
      const integer = BigInt(match[0]);
      if (integer <= MAX_UINT64 && integer >= MIN_INT64) return integer;
    }
    const double = Number(match[0]);
    if (!Number.isFinite(double)) throw this.error('Number too big to be stored in double.', start);
    return double;
  }

  /** NaN, Inf and Infinity, with or without a minus; a wrong letter is reported where it stands. */
  private literal(): number | undefined {
    const sign = this.text[this.at] === '-' ? -1 : 1;
    const first = this.text[sign === 1 ? this.at : this.at + 1];
    if (first !== 'N' && first !== 'I') return undefined;
    if (sign === -1) this.at++;
    if (first === 'N') return this.word('NaN', Number.NaN);
    this.word('Inf', true);
    if (this.text[this.at] === 'i') this.word('inity', true);
    return sign * Infinity;
  }
}
