import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pythonDumps } from '../../fastapi/index.ts';
import { partialJson } from './partial-json.ts';

/**
 * What partial_json_loads of NVIDIA's front end (partial_json_parser 0.2) gave to every beginning of these texts: the value
 * as json.dumps prints it, with a space and the length behind it where it was not read from all of the text; null for an
 * error. First with open strings, then without, where that differs.
 */
interface Recorded {
  readonly text: string;
  readonly prefixes: readonly (readonly (string | null)[])[];
}
const recorded = JSON.parse(readFileSync(new URL('partial-json.cases.json', import.meta.url), 'utf8')) as Recorded[];

function read(text: string, strings: boolean): string | null {
  try {
    const { value, length } = partialJson(text, { strings });
    const dumped = pythonDumps(value, { ascii: true });
    return length === text.length ? dumped : `${dumped} ${length}`;
  } catch {
    return null;
  }
}

test.each(recorded.map((one) => [one.text, one.prefixes] as const))('every beginning of %s', (text, prefixes) => {
  expect(prefixes).toHaveLength(text.length);
  for (const [i, [open = null, closed = open]] of prefixes.entries()) {
    const beginning = text.slice(0, i + 1);
    expect([beginning, read(beginning, true), read(beginning, false)]).toEqual([beginning, open, closed]);
  }
});
