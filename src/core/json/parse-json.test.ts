import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from './index.ts';

test.each([
  ['', 1, 1, 'it ends too early'],
  ['{\n "a": x\n}', 2, 7, 'unexpected "x"'],
  ['{\n "a": 1\n "b": 2}', 3, 2, "expected ',' or '}' after property value"],
  ['[1,\n2', 2, 2, 'it ends too early'],
  ['<<<<<<< HEAD\n{}', 1, 1, 'unexpected "<"'],
  ['{"a": trux}', 1, 10, 'unexpected "x"'],
  ['{"a": 1} geheim', 1, 10, 'unexpected "g"'],
  ['geheim-7719', 1, 1, 'unexpected "g"'],
  ['{"a": "geheim\n"}', 1, 14, 'bad control character in string literal'],
  ['{"a":\0}', 1, 6, 'unexpected "\\u0000"'],
])('%j is wrong at %i:%i', (text, line, column, problem) => {
  expect(parseJson(Buffer.from(text))).toEqual({ line, column, problem });
});

test('bytes that are no UTF-8 and a byte order mark are told by their place', () => {
  const place = (...bytes: number[]) => parseJson(Buffer.from(bytes));
  expect(place(0x7b, 0x0a, 0x22, 0xc3, 0xa9, 0xff, 0x22)).toEqual({ line: 2, column: 3, problem: 'byte 0xff is no UTF-8' });
  expect(place(0x22, 0xe2, 0x82)).toEqual({ line: 1, column: 2, problem: 'byte 0xe2 is no UTF-8' });
  // U+FFFD itself is a character like any other.
  expect(place(0x22, 0xef, 0xbf, 0xbd, 0xef, 0xbf)).toEqual({ line: 1, column: 3, problem: 'byte 0xef is no UTF-8' });
  expect(place(0xef, 0xbb, 0xbf, 0x7b, 0x7d)).toMatchObject({ line: 1, problem: expect.stringContaining('byte order mark') });
});

test('every JSON is read, and one cut anywhere ends too early there', () => {
  const text = fc.tuple(fc.jsonValue(), fc.constantFrom(0, 2)).map(([value, spaces]) => JSON.stringify([value], null, spaces));
  fc.assert(
    fc.property(text, fc.nat(), (whole, n) => {
      expect(parseJson(Buffer.from(whole))).toEqual({ value: JSON.parse(whole), text: whole });
      const characters = Array.from(whole);
      const cut = characters.slice(0, n % characters.length).join('');
      const lines = cut.split('\n');
      expect(parseJson(Buffer.from(cut))).toEqual({ line: lines.length, column: lines.at(-1)!.length + 1, problem: 'it ends too early' });
    }),
    { numRuns: 100 },
  );
});
