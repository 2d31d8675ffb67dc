import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '#core/request/index.ts';
import { loadTokenizer } from './index.ts';
import { CHECKPOINTS, REFUSED, withTokenizer } from './variants.ts';

const tokenizer = loadTokenizer(join(CHECKPOINTS, 'tiny'));

function oracle<T>(name: string, file: string): readonly T[] {
  return (JSON.parse(readFileSync(join(CHECKPOINTS, 'oracle', name, file), 'utf8')) as { cases: T[] }).cases;
}

interface TokenizerCase {
  readonly text: string;
  readonly ids: number[];
  readonly idsWithSpecials: number[];
  readonly decoded: string;
  readonly decodedSkippingSpecials: string;
  readonly slice: [number, number];
  readonly decodedSlice: string;
  /** Of DecodeStream, per id. */
  readonly streamedSlice: readonly string[];
  /** Ids drawn at random, many of them bytes that spell nothing. */
  readonly drawn: number[];
  readonly decodedDrawn: string;
  /** Null where it raises. */
  readonly streamedDrawn: readonly (string | null)[];
}

interface ChatCase {
  readonly messages: ChatMessage[];
  readonly plain: { text: string; ids: number[] };
  readonly generation: { text: string; ids: number[] };
}

describe.each(['tiny', 'tiny-spm'])('the tokenizer of %s', (name) => {
  const tokenizer = loadTokenizer(join(CHECKPOINTS, name));
  const eagerly = (ids: readonly number[]): string[] => {
    const stream = tokenizer.stream({ eager: true });
    return ids.map((id) => stream.push([id]));
  };

  test('gives the ids and texts that the Python package gives, cut characters included', () => {
    const cases = oracle<TokenizerCase>(name, 'tokenizer.json');
    expect(cases.length).toBeGreaterThanOrEqual(200);
    for (const c of cases) {
      expect(tokenizer.encode(c.text, { addSpecialTokens: false })).toEqual(c.ids);
      expect(tokenizer.encode(c.text, { addSpecialTokens: true })).toEqual(c.idsWithSpecials);
      expect(tokenizer.decode(c.idsWithSpecials)).toBe(c.decodedSkippingSpecials);
      expect(tokenizer.decode(c.idsWithSpecials, { skipSpecialTokens: false })).toBe(c.decoded);
      expect(tokenizer.decode(c.idsWithSpecials.slice(...c.slice))).toBe(c.decodedSlice);
      expect(tokenizer.decode(c.drawn)).toBe(c.decodedDrawn);
      expect(eagerly(c.idsWithSpecials.slice(...c.slice))).toEqual(c.streamedSlice);
      expect(eagerly(c.drawn)).toEqual(c.streamedDrawn.map((piece) => piece ?? ''));
    }
  });

  test('renders conversations as transformers does', () => {
    for (const c of oracle<ChatCase>(name, 'chat.json')) {
      for (const [expected, addGenerationPrompt] of [
        [c.plain, false],
        [c.generation, true],
      ] as const) {
        const text = tokenizer.applyChatTemplate(c.messages, { addGenerationPrompt });
        expect(text).toBe(expected.text);
        expect(tokenizer.encode(text, { addSpecialTokens: false })).toEqual(expected.ids);
      }
    }
  });

  test('decodes nothing to nothing', () => {
    expect(tokenizer.decode([])).toBe('');
  });
});

test('special tokens: a Llama 2 has no pad token', () => {
  const known = ['tiny', 'tiny-spm'].map((name) => loadTokenizer(join(CHECKPOINTS, name)));
  expect(known.map(({ bosId, eosId, padId, vocabSize }) => [bosId, eosId, padId, vocabSize])).toEqual([
    [0, 1, 2, 512],
    [1, 2, undefined, 512],
  ]);
});

describe('SentencePiece', () => {
  const spm = loadTokenizer(join(CHECKPOINTS, 'tiny-spm'));
  const encode = (text: string) => spm.encode(text, { addSpecialTokens: false });

  test('every list that is decoded loses one leading space, and inside a list spaces are right', () => {
    const ids = encode('The end. The  end.');
    expect(spm.decode(ids)).toBe('The end. The  end.');
    expect(ids.map((id) => spm.decode([id])).join('')).toBe('Theend.Theend.');
    expect(spm.decode([...ids, ...ids])).toBe('The end. The  end. The end. The  end.');
  });

  test('a run of byte tokens that is not UTF-8 is one U+FFFD for each of them', () => {
    // ▁ and the three bytes of 猫, behind them the first of 🐱: the whole run is broken.
    const cat = encode('猫');
    expect(cat).toHaveLength(4);
    expect(spm.decode([...cat, 3 + 0xf0])).toBe('\uFFFD'.repeat(4));
    expect(spm.decode(cat.slice(0, 3))).toBe('\uFFFD\uFFFD');
  });

  test('a stream holds a run of bytes back until it ends, since one more byte may break all of it', () => {
    const stream = spm.stream();
    const [space, ...bytes] = encode('猫') as [number, ...number[]];
    expect(stream.push([space, ...bytes])).toBe('');
    expect(stream.push([3 + 0xf0])).toBe('');
    expect(stream.flush()).toBe('\uFFFD'.repeat(4));
    const other = spm.stream();
    expect(other.push([space, ...bytes])).toBe('');
    expect(other.push(encode('a'))).toBe('猫 a');
  });
});

describe('streaming detokenization', () => {
  const ids = fc.array(fc.integer({ min: 0, max: 511 }), { maxLength: 60 });

  test('joined pieces equal the decode of the whole, wherever the chunks are cut', () => {
    fc.assert(
      fc.property(ids, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), (all, sizes) => {
        const decoder = tokenizer.stream();
        let text = '';
        for (let at = 0, i = 0; at < all.length; i++) {
          const size = sizes[i % sizes.length] as number;
          text += decoder.push(all.slice(at, at + size));
          at += size;
        }
        expect(text + decoder.flush()).toBe(tokenizer.decode(all));
      }),
    );
  });

  test('no piece shows half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('猫', '🐱', 'é', 'a', ' ', '«') }), (text) => {
        const decoder = tokenizer.stream();
        for (const id of tokenizer.encode(text, { addSpecialTokens: false })) expect(decoder.push([id])).not.toContain('\uFFFD');
        expect(decoder.flush()).toBe('');
      }),
    );
  });

  test('a character that is cut off at the end shows as U+FFFD after the flush only', () => {
    const cat = tokenizer.encode('猫', { addSpecialTokens: false });
    const decoder = tokenizer.stream();
    expect(decoder.push(cat.slice(0, -1))).toBe('');
    expect(decoder.flush()).toBe('\uFFFD');
  });
});

describe('a tokenizer that cannot be used', () => {
  const folder = (files: Readonly<Record<string, string>>, check: (dir: string) => void) => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-tokenizer-'));
    try {
      for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
      check(dir);
    } finally {
      rmSync(dir, { recursive: true });
    }
  };

  test.each<[what: string, files: Record<string, string>, message: string, hint: string]>([
    ['an empty folder', {}, 'there is no tokenizer in', 'tokenizer.json'],
    ['tokenizer.model alone', { 'tokenizer.model': '' }, 'has tokenizer.model and no tokenizer.json', 'save_pretrained'],
    ['another SentencePiece file', { 'spiece.spm': '' }, 'has spiece.spm and no tokenizer.json', 'save_pretrained'],
    ['a slow BPE tokenizer', { 'vocab.json': '{}', 'merges.txt': '' }, 'has vocab.json and no tokenizer.json', 'save_pretrained'],
    ['a tiktoken vocabulary', { 'qwen.tiktoken': '' }, 'has qwen.tiktoken and no tokenizer.json', 'save_pretrained'],
  ])('%s: the error says what is there and how it becomes tokenizer.json', (_what, files, message, hint) => {
    folder(files, (dir) => {
      expect(() => loadTokenizer(dir)).toThrow(
        expect.objectContaining({
          code: 'tokenizer-missing',
          message: expect.stringContaining(message),
          hint: expect.stringContaining(hint),
        }),
      );
    });
  });

  test('a folder that is not there is called that', () => {
    expect(() => loadTokenizer('/nowhere/at/all')).toThrow(
      expect.objectContaining({ code: 'tokenizer-missing', message: expect.stringContaining('/nowhere/at/all does not exist') }),
    );
  });

  test.each(['{"version":', 'null', '[]', '{}', '{"model": {"type": "BPE"}}'])('a file that holds %s is malformed', (content) => {
    folder({ 'tokenizer.json': content }, (dir) => {
      expect(() => loadTokenizer(dir)).toThrow(expect.objectContaining({ code: 'tokenizer-malformed' }));
    });
  });

  test.each(REFUSED)('%s is refused by name', (name, checkpoint, change) =>
    withTokenizer(checkpoint, change, async (dir) => {
      expect(() => loadTokenizer(dir)).toThrow(
        expect.objectContaining({ code: 'tokenizer-inexact', message: expect.stringContaining(name) }),
      );
    }),
  );
});
