import { join } from 'node:path';
import fc from 'fast-check';
import { nfcNormalizer, Tokenizer as RustTokenizer } from 'tokenizers';
import { describe, expect, test } from 'vitest';
import { loadTokenizer } from './index.ts';
import { asOnigurumaSees, nfc, NODE_UNICODE } from './unicode.ts';
import { ACCEPTED, type Change, withTokenizer } from './variants.ts';

/** LOCKSTEP_TOKENIZER_RUNS: how many random texts and id lists each variant is asked; docs/decisions/003-tokenizer.md says how many it was. */
const RUNS = Number(process.env['LOCKSTEP_TOKENIZER_RUNS'] ?? 20);

/** Of all of Unicode. fast-check's own unit for it builds a table of a million rows first. */
const anyCharacter = fc.integer({ min: 0, max: 0x10_ff_ff - 0x800 }).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

/** Letters, marks, other scripts, emoji, kinds of white space, controls, and special tokens written out. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('猫', '🐱', 'é', 'e\u0301', '👩‍👩‍👧', '\r\n', '\u00a0', '\ufeff', '\u0085', '\u200b', '\u2028', ' ', '  ', '\t', '▁'),
    fc.constantFrom('<|eos|>', '<|user|>', '<s>', '</s>', '<unk>', '<0x41>', 'Heads', 'Heads é', '1', '٣', '½', 'a'),
    fc.constantFrom('<|left|>', '<|right|>', '<|both|>', ' <|space|>', 'éö', 'éö猫'),
    anyCharacter,
    fc.tuple(anyCharacter, anyCharacter).map((two) => two.join('')),
    fc.string({ minLength: 1, maxLength: 4 }),
  ),
  maxLength: 25,
});

/** Ids of all kinds, some beyond the vocabulary; where bytes are tokens, those of an emoji often, whole and cut. */
function idLists(folder: string, vocabSize: number): fc.Arbitrary<number[]> {
  const id = fc.integer({ min: 0, max: vocabSize + 3 });
  if (folder === 'tiny') return fc.array(id, { maxLength: 40 });
  const byte = fc.constantFrom(...Buffer.from('🐱 ')).map((value) => value + 3);
  return fc.array(fc.oneof(id, fc.integer({ min: 3, max: 258 }), byte, fc.constantFrom(1, 2, 333)), { maxLength: 40 });
}

/** Drops the characters of a class, and keeps the bytes of all others. */
function onlyWithout(expression: string): Change {
  return (json) => {
    const split = { type: 'Split', pattern: { Regex: expression }, behavior: 'Removed', invert: false };
    json.pre_tokenizer = { type: 'Sequence', pretokenizers: [split, { ...json.pre_tokenizer, use_regex: false }] };
  };
}

describe.each(ACCEPTED)('%s', (_name, folder, change) => {
  test('texts encode to the ids of the Rust tokenizers', () =>
    withTokenizer(folder, change, async (dir) => {
      const ours = loadTokenizer(dir);
      const rust = RustTokenizer.fromFile(join(dir, 'tokenizer.json'));
      const property = fc.asyncProperty(text, fc.boolean(), async (t, addSpecialTokens) => {
        const encoding = await rust.encode(t, null, { addSpecialTokens });
        expect(ours.encode(t, { addSpecialTokens })).toEqual(encoding.getIds());
      });
      await fc.assert(property, { numRuns: RUNS });
    }));

  test('ids decode to their text, whole and as a stream cut anywhere', () =>
    withTokenizer(folder, change, async (dir) => {
      const ours = loadTokenizer(dir);
      const rust = RustTokenizer.fromFile(join(dir, 'tokenizer.json'));
      const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 });
      const property = fc.asyncProperty(idLists(folder, ours.vocabSize), sizes, async (ids, chunks) => {
        const whole = await rust.decode(ids, true);
        expect(ours.decode(ids)).toBe(whole);
        expect(ours.decode(ids, { skipSpecialTokens: false })).toBe(await rust.decode(ids, false));
        const stream = ours.stream();
        let joined = '';
        for (let at = 0, i = 0; at < ids.length; i++) {
          const size = chunks[i % chunks.length] as number;
          joined += stream.push(ids.slice(at, at + size));
          at += size;
        }
        expect(joined + stream.flush()).toBe(whole);
      });
      await fc.assert(property, { numRuns: RUNS });
    }));
});

describe('Unicode', () => {
  test('the tables of Node are those that unicode.ts was made against', () => {
    expect(process.versions['unicode']).toBe(NODE_UNICODE);
  });

  test('normal form C is that of the Rust library for every mark and every composed letter', () => {
    const normalizer = nfcNormalizer();
    const characters = Array.from({ length: 0x30000 }, (_, code) => code)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code))
      .filter((character) => /\p{M}/u.test(character) || character.normalize('NFD') !== character);
    const texts = characters.flatMap((c) => [c, c.normalize('NFD'), `a${c}\u0323\u0301`, `e\u0301${c}\u0345`, c + c]);
    expect(texts.length).toBeGreaterThan(50_000);
    expect(texts.filter((text) => normalizer.normalizeString(text) !== nfc(text))).toEqual([]);
  });

  test('letters, numbers and white space are those of the Rust library where Unicode 17 added some', async () => {
    await withTokenizer('tiny', onlyWithout(String.raw`[\p{L}\p{N}\s]`), async (dir) => {
      const rust = RustTokenizer.fromFile(join(dir, 'tokenizer.json'));
      const added = Array.from({ length: 0x33500 }, (_, code) => code)
        .filter((code) => code < 0xd800 || code > 0xdfff)
        .map((code) => String.fromCodePoint(code))
        .filter((character) => asOnigurumaSees(character) !== character);
      expect(added).toHaveLength(4803);
      const kept = await rust.encodeBatch(added, { addSpecialTokens: false });
      expect(added.filter((_, i) => kept[i]?.getLength() === 0)).toEqual([]);
    });
  });
});
