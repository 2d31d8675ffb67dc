import textformat from 'protobufjs/ext/textformat.js';
import { modelConfigType } from './config-schema.ts';

/** Where one value of a field stands in a text that the parser has accepted. Offsets are of UTF-16, lines from 1. */
export interface Place {
  readonly field: string;
  /** Of the field's name, and of the last character of all its values: `dims: [ 1, 2 ]` as a whole. */
  readonly whole: readonly [number, number];
  /** Of this value: `1`. */
  readonly value: readonly [number, number];
  /** Whether it stands in a list in brackets. */
  readonly listed: boolean;
  readonly line: number;
  /** Fields of a message in braces. */
  readonly fields: readonly Place[];
}

/** A field's name, an index into a repeated field, or the key of a map's entry. */
export type PlaceStep = string | number | { readonly key: string };

/** The place of a path: `['instance_group', 0, 'count']`, `['parameters', { key: 'max_beam_width' }]`; the last of equal keys. */
export function placeOf(places: readonly Place[], path: readonly PlaceStep[], text: string): Place | undefined {
  let among = places;
  let found: Place | undefined;
  for (let i = 0; i < path.length;) {
    const name = path[i];
    const same = among.filter(({ field }) => field === name);
    const next = path[i + 1];
    if (typeof next === 'number') found = same[next];
    else if (typeof next === 'object') found = same.findLast((entry) => keyOf(entry, text) === next.key);
    else found = same.at(-1);
    if (found === undefined) return undefined;
    among = found.fields;
    i += typeof next === 'number' || typeof next === 'object' ? 2 : 1;
  }
  return found;
}

function keyOf(entry: Place, text: string): string | undefined {
  const key = entry.fields.find(({ field }) => field === 'key');
  if (key === undefined) return undefined;
  const raw = text.slice(...key.value);
  if (!/^["']/.test(raw)) return raw;
  const parameter = modelConfigType().root.lookupType('inference.ModelParameter');
  return (textformat.fromText(parameter, `string_value: ${raw}`) as unknown as { readonly string_value: string }).string_value;
}

/** Walks over a text that the parser has accepted; what it means is the parser's business. */
export function placesIn(text: string): readonly Place[] {
  return new Walk(text).fields();
}

const SPACE = /(?:\s|#[^\n]*)*/y;
const WORD = /[^\s{}<>:[\],;"'#]+/y;
const STRING = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/y;

const DEEPEST = 150;

class Walk {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #counted = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fields(): Place[] {
    const found: Place[] = [];
    // The parser takes no more than 100; what it refuses must not bring this down either.
    if (this.#depth > DEEPEST) return found;
    for (;;) {
      this.#skip(SPACE);
      while (this.#take(',') || this.#take(';')) this.#skip(SPACE);
      const start = this.#at;
      const name = this.#skip(WORD);
      if (name === '') return found;
      const line = this.#lineAt(start);
      this.#skip(SPACE);
      if (this.#take(':')) this.#skip(SPACE);
      const values = this.#values();
      const whole = [start, this.#at] as const;
      for (const value of values)
        found.push({ field: name, whole, line: value.listed ? value.line : line, ...value.rest, listed: value.listed });
    }
  }

  #values(): { readonly listed: boolean; readonly line: number; readonly rest: Pick<Place, 'value' | 'fields'> }[] {
    if (!this.#take('[')) return [this.#value(false)];
    const values = [];
    for (;;) {
      this.#skip(SPACE);
      if (this.#take(']')) return values;
      if (this.#take(',')) continue;
      if (this.#at >= this.#text.length) return values;
      values.push(this.#value(true));
    }
  }

  #value(listed: boolean) {
    const start = this.#at;
    const line = this.#lineAt(start);
    let fields: readonly Place[] = [];
    if (this.#take('{') || this.#take('<')) {
      this.#depth += 1;
      fields = this.fields();
      this.#depth -= 1;
      this.#skip(SPACE);
      if (!this.#take('}')) this.#take('>');
      return { listed, line, rest: { value: [start, this.#at] as const, fields } };
    }
    let end = this.#at;
    // Strings that stand beside each other are one; a sign may stand apart from its number.
    while (this.#skip(STRING) !== '' || (end === start && this.#skip(WORD) !== '')) {
      end = this.#at;
      if (this.#text.slice(start, end) === '-') {
        this.#skip(SPACE);
        this.#skip(WORD);
        end = this.#at;
      }
      this.#skip(SPACE);
    }
    this.#at = Math.max(end, start === end ? start + 1 : end);
    return { listed, line, rest: { value: [start, end] as const, fields } };
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Offsets only grow. */
  #lineAt(offset: number): number {
    for (; this.#counted < offset; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line += 1;
    return this.#line;
  }
}
