/**
 * JSON that is still being written, closed as the parser of tool calls closes it: what is certain stays, an open string or
 * number ends where it stands, open braces are closed. Source: partial_json_parser (PyPI, 0.2), core/complete.py.
 */
import type { JsonValue } from '#wire/protocol/json-value.ts';
import { readPythonJson } from '../../fastapi/index.ts';

export interface Partial {
  readonly value: JsonValue;
  /** Characters that it was read from; all of them where nothing follows a whole value. */
  readonly length: number;
}

/** How far a value goes, and what closes it: '' for nothing. Undefined: there is no value yet. */
interface Closed {
  readonly end: number;
  readonly tail: string;
  readonly whole: boolean;
}

const NUMBER_CHARACTERS = new Set('1234567890.-+eE');
const UNFINISHED = new Set('.-+eE');
const WORDS = ['null', 'true', 'false', 'Infinity', '-Infinity', 'NaN'];
const SPACE = /\s/;

/**
 * The value at the beginning of `text`. `strings`: whether a string that is not closed counts; otherwise its member is left out.
 *
 * Errors: Error for what cannot become JSON any more, and where there is no value yet.
 */
export function partialJson(text: string, { strings }: { readonly strings: boolean }): Partial {
  mustBeBalanced(text);
  const start = text.length - text.trimStart().length;
  // Space at the end is dropped, even where it stands in an open string.
  const closed = new Closer(text.trimEnd(), strings).any(start);
  if (closed === undefined) throw new Error('nothing but the beginning of a value');
  const value = readPythonJson(text.slice(start, closed.end) + closed.tail);
  if (!closed.whole || text.slice(closed.end).trim() === '') return { value, length: text.length };
  // More follows, so this is read again, and then no space may stand before it.
  if (start > 0) throw new Error('space before a value');
  return { value, length: closed.end };
}

/** The value at the very beginning of `text`, whatever follows it: json.JSONDecoder().raw_decode. Errors: Error. */
export function firstJson(text: string): Partial {
  const closed = new Closer(text, false).any(0);
  if (closed?.whole !== true) throw new Error('no whole value');
  return { value: readPythonJson(text.slice(0, closed.end)), length: closed.end };
}

class Closer {
  readonly #text: string;
  readonly #strings: boolean;

  constructor(text: string, strings: boolean) {
    this.#text = text;
    this.#strings = strings;
  }

  any(at: number): Closed | undefined {
    const char = this.#text[at];
    if (char === undefined) throw new EndOfText();
    if (char === '"') return this.#string(at);
    if (char === '[') return this.#members(at, ']', (from) => this.any(from));
    if (char === '{') return this.#members(at, '}', (from) => this.#pair(from));
    if (/[0-9]/.test(char) || (char === '-' && /[^I]/.test(this.#text[at + 1] ?? ''))) return this.#number(at);
    if (char === '-' && at + 1 === this.#text.length) return undefined;
    const rest = this.#text.slice(at);
    const word = WORDS.find((one) => rest.startsWith(one) || one.startsWith(rest));
    if (word === undefined) throw new Error(`unexpected ${char}`);
    return rest.startsWith(word) ? { end: at + word.length, tail: '', whole: true } : { end: at, tail: word, whole: false };
  }

  #skip(at: number): number {
    let next = at;
    while (next < this.#text.length && SPACE.test(this.#text[next] as string)) next++;
    return next;
  }

  #string(at: number): Closed | undefined {
    const text = this.#text;
    let i = at + 1;
    for (; i < text.length; i++) {
      if (text[i] === '"') return { end: i + 1, tail: '', whole: true };
      if (text[i] !== '\\') continue;
      if (i + 1 === text.length) break;
      i++;
    }
    const end = Math.min(i, text.length);
    if (!this.#strings) return undefined;
    // An escape of four digits that are not all there is left out.
    const escape = text.lastIndexOf('\\u', end - 1);
    const inReach = escape > at && escape >= end - 5 && escape + 2 <= end && isEscaping(text, escape);
    return { end: inReach ? escape : end, tail: '"', whole: false };
  }

  #number(at: number): Closed {
    const text = this.#text;
    let end = at + 1;
    while (end < text.length && NUMBER_CHARACTERS.has(text[end] as string)) end++;
    const reached = end === text.length;
    if (!reached) return { end, tail: '', whole: true };
    let cut = end;
    while (UNFINISHED.has(text[cut - 1] as string)) cut--;
    return { end: cut, tail: '', whole: false };
  }

  /** A name, its colon and its value. */
  #pair(at: number): Closed | undefined {
    if (this.#text[at] !== '"') throw new Error('expected a name');
    const name = this.#string(at);
    if (name?.whole !== true) return undefined;
    const colon = this.#skip(name.end);
    if (colon >= this.#text.length) throw new EndOfText();
    if (this.#text[colon] !== ':') throw new Error("expected ':'");
    return this.any(this.#skip(colon + 1));
  }

  #members(at: number, close: string, member: (at: number) => Closed | undefined): Closed {
    const text = this.#text;
    /** Behind the last member that is whole. */
    let sure = at + 1;
    try {
      for (let i = this.#skip(at + 1); ; i = this.#skip(i)) {
        if (i >= text.length) throw new EndOfText();
        if (text[i] === close) return { end: i + 1, tail: '', whole: true };
        const one = member(i);
        if (one === undefined) return { end: sure, tail: close, whole: false };
        if (!one.whole) return { end: one.end, tail: one.tail + close, whole: false };
        sure = one.end;
        i = this.#skip(one.end);
        if (i >= text.length) throw new EndOfText();
        if (text[i] === ',') i++;
        else if (text[i] === close) return { end: i + 1, tail: '', whole: true };
        else throw new Error(`expected ',' or '${close}'`);
      }
    } catch (thrown) {
      if (!(thrown instanceof EndOfText)) throw thrown;
      return { end: sure, tail: close, whole: false };
    }
  }
}

/** No bracket closes what is not open, not even behind the value. */
function mustBeBalanced(text: string): void {
  const open: string[] = [];
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\[^])*(?:"|\\?$)|[[\]{}]/g)) {
    if (token === '{' || token === '[') open.push(token);
    else if ((token === '}' || token === ']') && open.pop() !== (token === '}' ? '{' : '[')) throw new Error(`${token} closes nothing`);
  }
}

class EndOfText extends Error {}

/** Whether the backslash at `at` is one that escapes, and not escaped itself. */
function isEscaping(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === '\\') before--;
  return (at - before) % 2 === 0;
}
