import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import textformat from 'protobufjs/ext/textformat.js';
import { expect, test } from 'vitest';
import { LETTER } from '#core/testing/letters.ts';
import { MODEL_REPOSITORY } from '#core/config/index.ts';
import { modelConfigType } from './config-schema.ts';
import { placeOf, placesIn, type Place } from './pbtxt-places.ts';

const TEXT = `# name: "a comment"
name: 'echo' "es" # joined
max_batch_size : - 4
input [
  { name: "X{" dims: [ -1,
      2 ] },
  { name: "Y]" dims: 3 ; optional: true }
]
instance_group [ { count: 2, kind: KIND_CPU } ]
parameters < key: "a" value: < string_value: "1" > >
parameters: { key: "a\\x62" value { string_value: "2" } }
`;

const sliceOf = (path: Parameters<typeof placeOf>[1]): readonly [string, number] | undefined => {
  const place = placeOf(placesIn(TEXT), path, TEXT);
  return place === undefined ? undefined : [TEXT.slice(...place.value), place.line];
};

test.each([
  [['name'], `'echo' "es"`, 2],
  [['max_batch_size'], '- 4', 3],
  [['input', 0, 'name'], '"X{"', 5],
  [['input', 0, 'dims', 1], '2', 6],
  [['input', 1, 'dims', 0], '3', 7],
  [['input', 1, 'optional'], 'true', 7],
  [['instance_group', 0, 'count'], '2', 9],
  [['parameters', { key: 'a' }, 'value', 'string_value'], '"1"', 10],
  [['parameters', { key: 'ab' }, 'value', 'string_value'], '"2"', 11],
] as const)('%j stands as %s in line %i', (path, slice, line) => {
  expect(sliceOf(path)).toEqual([slice, line]);
});

test('what is not there has no place', () => {
  expect([sliceOf(['output', 0]), sliceOf(['input', 2]), sliceOf(['parameters', { key: 'b' }])]).toEqual([undefined, undefined, undefined]);
});

/** Every place by itself, put together again, must be what the parser makes of the whole. */
function rebuilt(places: readonly Place[], text: string): string {
  return places
    .map(({ field, value, fields }) =>
      /^[{<]/.test(text.slice(...value)) ? `${field} { ${rebuilt(fields, text)} }` : `${field}: ${text.slice(...value)}`,
    )
    .join('\n');
}

test.each(['tensorrt_llm', 'ensemble', 'tensorrt_llm_bls', 'preprocessing', 'llmapi'])('the places of %s are all of it', (model) => {
  const text = readFileSync(join(MODEL_REPOSITORY, model, 'config.pbtxt'), 'utf8');
  const parse = (one: string) => modelConfigType().toObject(textformat.fromText(modelConfigType(), one));
  expect(parse(rebuilt(placesIn(text), text))).toEqual(parse(text));
});

const junk = fc.stringMatching(/^[ \n\t,;]?(#[^\n]*\n)?$/);

test('so are those of any configuration, however it is written', () => {
  const message = fc.record({
    name: fc.string({ unit: LETTER }),
    max_batch_size: fc.integer({ min: -9, max: 99 }),
    metric_tags: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true }),
    instance_group: fc.array(
      fc.record({ count: fc.nat(9), gpus: fc.array(fc.nat(9), { maxLength: 3 }), profile: fc.array(fc.string(), { maxLength: 2 }) }),
      {
        maxLength: 3,
      },
    ),
  });
  fc.assert(
    fc.property(message, junk, (value, between) => {
      const lines = textformat.toText(modelConfigType(), modelConfigType().fromObject(value)).split('\n');
      // Between fields of the outermost message anything that says nothing may stand.
      const text = lines
        .map((line) => (/^\S/.test(line) && !line.startsWith('}') ? `${between.replace(/^[,;]/, '')}${line}` : line))
        .join('\n');
      const parse = (one: string) => modelConfigType().toObject(textformat.fromText(modelConfigType(), one));
      expect(parse(rebuilt(placesIn(text), text))).toEqual(parse(text));
    }),
    { numRuns: 40 },
  );
});

test('of any text at all it makes an end', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a{}<>[\]:,;"'#\\ \n-]{0,40}$/), (text) => {
      for (const { value, whole } of placesIn(text))
        expect(whole[0] <= value[0] && value[0] <= value[1] && value[1] <= text.length + 1).toBe(true);
    }),
    { numRuns: 300 },
  );
});
