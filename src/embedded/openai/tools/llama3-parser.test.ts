import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Llama3Stream, type StreamPart, toolCalls } from './llama3-parser.ts';

/**
 * What the llama3 parser of NVIDIA's front end (main of mid-2026) made of these texts: whole, as names and arguments or
 * null for text; and piece by piece, so many characters at a time: what each piece amounted to, a number for so many pieces
 * that amounted to nothing.
 */
interface Recorded {
  readonly text: string;
  readonly whole: readonly (readonly [string, string])[] | null;
  readonly streams: readonly { readonly size: number; readonly parts: readonly Part[]; readonly called: boolean }[];
}
type Part = number | string | readonly [index: number, what: 'name' | 'arguments', text: string];
const recorded = JSON.parse(readFileSync(new URL('llama3-parser.cases.json', import.meta.url), 'utf8')) as Recorded[];

function shown(part: StreamPart): Part {
  if (part === undefined) return 1;
  if ('content' in part) return part.content;
  return 'name' in part.call ? [part.call.index, 'name', part.call.name] : [part.call.index, 'arguments', part.call.arguments];
}

test.each(recorded.map((one) => [one.text, one] as const))('%s', (text, { whole, streams }) => {
  expect(toolCalls(text)?.map((call) => [call.name, call.arguments]) ?? null).toEqual(whole);
  for (const { size, parts, called } of streams) {
    const stream = new Llama3Stream();
    const seen: Part[] = [];
    for (let at = 0; at < text.length; at += size) {
      const part = shown(stream.push(text.slice(0, at + size), text.slice(at, at + size)));
      const last = seen.at(-1);
      if (typeof part === 'number' && typeof last === 'number') seen[seen.length - 1] = last + 1;
      else seen.push(part);
    }
    expect({ size, parts: seen, called: stream.called }).toEqual({ size, parts, called });
  }
});
