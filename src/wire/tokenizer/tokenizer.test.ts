import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '#core/request/index.ts';
import { loadTokenizer } from './index.ts';

const CHECKPOINT = join(import.meta.dirname, '../../../docker/checkpoint');
const tokenizer = loadTokenizer(join(CHECKPOINT, 'tiny'));

function oracle<T>(file: string): readonly T[] {
  return (JSON.parse(readFileSync(join(CHECKPOINT, 'oracle', file), 'utf8')) as { cases: T[] }).cases;
}

interface TokenizerCase {
  readonly text: string;
  readonly ids: number[];
  readonly idsWithSpecials: number[];
  readonly decoded: string;
  readonly decodedSkippingSpecials: string;
}

interface ChatCase {
  readonly messages: ChatMessage[];
  readonly plain: { text: string; ids: number[] };
  readonly generation: { text: string; ids: number[] };
}

describe('the tokenizer', () => {
  test('gives the ids and texts that the Python package gives', () => {
    const cases = oracle<TokenizerCase>('tokenizer.json');
    expect(cases.length).toBeGreaterThanOrEqual(200);
    for (const c of cases) {
      expect(tokenizer.encode(c.text, { addSpecialTokens: false })).toEqual(c.ids);
      expect(tokenizer.encode(c.text, { addSpecialTokens: true })).toEqual(c.idsWithSpecials);
      expect(tokenizer.decode(c.idsWithSpecials)).toBe(c.decodedSkippingSpecials);
      expect(tokenizer.decode(c.idsWithSpecials, { skipSpecialTokens: false })).toBe(c.decoded);
    }
  });

  test('renders conversations as transformers does', () => {
    for (const c of oracle<ChatCase>('chat.json')) {
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

  test('knows its special tokens', () => {
    expect([tokenizer.bosId, tokenizer.eosId, tokenizer.padId, tokenizer.vocabSize]).toEqual([0, 1, 2, 512]);
  });

  test('decodes nothing to nothing', () => {
    expect(tokenizer.decode([])).toBe('');
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
  const withFolder = (change: (dir: string) => void, check: (dir: string) => void) => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-tokenizer-'));
    try {
      cpSync(join(CHECKPOINT, 'tiny'), dir, { recursive: true, filter: (p) => !p.endsWith('.safetensors') });
      change(dir);
      check(dir);
    } finally {
      rmSync(dir, { recursive: true });
    }
  };
  const edit = (dir: string, change: (json: Record<string, never>) => void) => {
    const path = join(dir, 'tokenizer.json');
    const json = JSON.parse(readFileSync(path, 'utf8'));
    change(json);
    writeFileSync(path, JSON.stringify(json));
  };

  test('a missing tokenizer.json names the path and the conversion command', () => {
    withFolder(
      (dir) => rmSync(join(dir, 'tokenizer.json')),
      (dir) => {
        expect(() => loadTokenizer(dir)).toThrow(
          expect.objectContaining({ code: 'tokenizer-missing', hint: expect.stringContaining('save_pretrained') }),
        );
      },
    );
  });

  test.each(['{"version":', 'null', '[]'])('a file that holds %s is malformed', (content) => {
    withFolder(
      (dir) => writeFileSync(join(dir, 'tokenizer.json'), content),
      (dir) => {
        expect(() => loadTokenizer(dir)).toThrow(expect.objectContaining({ code: 'tokenizer-malformed' }));
      },
    );
  });

  test.each([
    [
      'truncation',
      (j: any) => {
        j.truncation = { max_length: 4 };
      },
    ],
    [
      'single_word',
      (j: any) => {
        j.added_tokens[0].single_word = true;
      },
    ],
    [
      'ByteFallback',
      (j: any) => {
        j.decoder = { type: 'Sequence', decoders: [{ type: 'ByteFallback' }] };
      },
    ],
    [
      'Contiguous',
      (j: any) => {
        j.pre_tokenizer = { type: 'Split', behavior: 'Contiguous' };
      },
    ],
  ])('%s is refused by name', (name, change) => {
    withFolder(
      (dir) => edit(dir, change),
      (dir) => {
        expect(() => loadTokenizer(dir)).toThrow(
          expect.objectContaining({ code: 'tokenizer-inexact', message: expect.stringContaining(name) }),
        );
      },
    );
  });
});
