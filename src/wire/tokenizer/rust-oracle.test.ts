import { join } from 'node:path';
import fc from 'fast-check';
import { Tokenizer as RustTokenizer } from 'tokenizers';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadTokenizer } from './index.ts';

const DIR = join(import.meta.dirname, '../../../docker/checkpoint/tiny');
const ours = loadTokenizer(DIR);
let rust: RustTokenizer;

beforeAll(() => {
  rust = RustTokenizer.fromFile(join(DIR, 'tokenizer.json'));
});

/** Letters, marks, other scripts, emoji, controls, and the special tokens written out. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('猫', '🐱', 'é', 'e\u0301', '👩‍👩‍👧', '\r\n', '\u00a0', '<|eos|>', '<|user|>', ' '),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
    fc.string({ minLength: 1, maxLength: 4 }),
  ),
  maxLength: 30,
});

describe('against the Rust tokenizers', () => {
  test('texts encode to the same ids, with and without special tokens', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (t, addSpecialTokens) => {
        const encoding = await rust.encode(t, null, { addSpecialTokens });
        expect(ours.encode(t, { addSpecialTokens })).toEqual(encoding.getIds());
      }),
      { numRuns: 300 },
    );
  });

  test('ids decode to the same text, cut characters included', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 511 }), { minLength: 1, maxLength: 40 }), fc.boolean(), async (ids, skip) => {
        expect(ours.decode(ids, { skipSpecialTokens: skip })).toBe(await rust.decode(ids, skip));
      }),
      { numRuns: 300 },
    );
  });
});
