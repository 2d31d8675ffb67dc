import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '#checks/laws/index.ts';
import type { LockstepError } from '#core/errors/index.ts';
import type { Request } from '#core/request/index.ts';
import { type GoldenStore, type Provenance, openGoldenStore } from './index.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'goldens-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (): GoldenStore => openGoldenStore({ root, checkpoint: 'tiny', weightsHash: 'aaaaaaaabbbb', tokenizerHash: 'ccccccccdddd' });
const provenance: Provenance = { date: '2026-03-01T00:00:00.000Z', version: '0.1.0', identity: { target: 'embedded' } };
const later: Provenance = { ...provenance, date: '2026-04-01T00:00:00.000Z' };

function request(id: string, text = 'red or blue?'): Request {
  return { id, prompt: { kind: 'text', text }, sampling: { kind: 'greedy' }, limits: { maxTokens: 20, stopWords: ['.'] } };
}

function answer(n = 3): Answer {
  const ids = Array.from({ length: n }, (_, k) => 10 + k);
  return {
    promptIds: [0, 7, 8],
    ids,
    text: 'I like "red" 日\n',
    finish: 'eos',
    margins: [...ids.map((_, k) => (k === 1 ? 0 : 1.23456789 + k)), 1e-9],
    runnerUps: [...ids, 4],
    logProbs: ids.map((k) => -k / 3),
  };
}

const file = (store: GoldenStore) => readFileSync(join(store.folder, 'replies.json'), 'utf8');
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (thrown) {
    return (thrown as LockstepError).code;
  }
  return 'no error';
};

/** Of all of Unicode. fast-check's own unit for it builds a table of a million rows first. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10_ff_ff - 0x800 }))
  .map((numbers) => numbers.map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800)).join(''));

describe('a golden', () => {
  test('comes back as it was saved, numbers to six digits, zero as zero', () => {
    const store = open();
    store.save('replies', [{ request: request('a'), answer: answer() }], provenance);
    const back = open().get('replies', request('a'));
    expect(back.request).toEqual(request('a'));
    expect(back.answer).toEqual({ ...answer(), margins: [1.23457, 0, 3.23457, 1e-9], logProbs: [-3.33333, -3.66667, -4] });
    expect(store.provenance(back)).toEqual(provenance);
    expect(store.list()).toEqual(['replies']);
    expect(store.folder).toBe(join(root, 'tiny-aaaaaaaa-cccccccc'));
  });

  test('is written one value per line, lists wrapped at sixteen, blocks by id', () => {
    const store = open();
    store.save(
      'replies',
      [
        { request: request('b'), answer: answer(18) },
        { request: request('a'), answer: answer(1) },
      ],
      provenance,
    );
    expect(file(store).split('\n').slice(0, 16)).toEqual([
      '{',
      '"format": 1,',
      '"goldens": {',
      '"a": {',
      '  "prompt": {"kind":"text","text":"red or blue?"},',
      '  "sampling": {"kind":"greedy"},',
      '  "limits": {"maxTokens":20,"stopWords":["."]},',
      '  "finish": "eos",',
      '  "text": "I like \\"red\\" 日\\n",',
      '  "promptIds": [0, 7, 8],',
      '  "ids": [10],',
      '  "margins": [1.23457, 1e-9],',
      '  "runnerUps": [10, 4],',
      '  "logProbs": [-3.33333],',
      expect.stringMatching(/^ {2}"recorded": "[0-9a-f]{8}"$/u),
      '},',
    ]);
    expect(file(store)).toContain('"ids": [\n    10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,\n    26, 27\n  ],');
  });

  test('survives any text and any id', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.string({ minLength: 1 }).filter((id) => id !== '__proto__'),
        (text, id) => {
          const store = open();
          store.save('any', [{ request: request(id, text), answer: { ...answer(), text } }], provenance);
          expect(open().get('any', request(id, text)).answer.text).toBe(text);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('recording again', () => {
  test('the same answers changes no byte, even if the last digits moved', () => {
    const store = open();
    store.save(
      'replies',
      [
        { request: request('a'), answer: answer() },
        { request: request('b'), answer: answer() },
      ],
      provenance,
    );
    const before = [file(store), readFileSync(join(store.folder, 'index.json'), 'utf8')];
    const moved = { ...answer(), margins: answer().margins.map((m) => m + 2e-5) };
    const result = store.save(
      'replies',
      [
        { request: request('a'), answer: moved },
        { request: request('b'), answer: answer() },
      ],
      later,
    );
    expect(result).toEqual({ added: [], changed: [], unchanged: 2 });
    expect([file(store), readFileSync(join(store.folder, 'index.json'), 'utf8')]).toEqual(before);
  });

  test('another answer changes its own block only', () => {
    const store = open();
    store.save(
      'replies',
      [
        { request: request('a'), answer: answer() },
        { request: request('b'), answer: answer() },
      ],
      provenance,
    );
    const before = file(store).split('\n');
    const result = store.save(
      'replies',
      [
        { request: request('a'), answer: answer() },
        { request: request('b'), answer: { ...answer(), text: 'no' } },
      ],
      later,
    );
    expect(result).toMatchObject({ changed: ['b'], unchanged: 1 });
    const after = file(store).split('\n');
    expect(after.filter((line, i) => line !== before[i]).map((line) => line.trim().split(':')[0])).toEqual(['"text"', '"recorded"']);
    expect(store.provenance(store.get('replies', request('a')))).toEqual(provenance);
    expect(store.provenance(store.get('replies', request('b')))).toEqual(later);
  });

  test('a part of a suite keeps the rest', () => {
    const store = open();
    const [a, b] = [
      { request: request('a'), answer: answer() },
      { request: request('b'), answer: answer() },
    ];
    store.save('replies', [a, b], provenance);
    expect(store.save('replies', [a], later)).toEqual({ added: [], changed: [], unchanged: 1 });
    expect([...store.load('replies').keys()]).toEqual(['a', 'b']);
  });
});

describe('errors', () => {
  const corrupt = (change: (text: string) => string): LockstepError => {
    const store = open();
    store.save('replies', [{ request: request('a'), answer: answer() }], provenance);
    writeFileSync(join(store.folder, 'replies.json'), change(file(store)));
    try {
      open().load('replies');
    } catch (thrown) {
      return thrown as LockstepError;
    }
    throw new Error('it loaded');
  };

  test.each([
    ['a wrong list', (t: string) => t.replace('[10, 11, 12]', '[10, 11.5, 12]'), 'golden-malformed', 'goldens.a.ids'],
    ['a wrong word', (t: string) => t.replace('"eos"', '"EOS"'), 'golden-malformed', 'goldens.a.finish'],
    ['a missing field', (t: string) => t.replace('"text": "I', '"txet": "I'), 'golden-malformed', 'goldens.a'],
    ['a wrong limit', (t: string) => t.replace('"maxTokens":20', '"maxTokens":"20"'), 'golden-malformed', 'goldens.a.limits.maxTokens'],
    ['half a file', (t: string) => t.slice(0, 100), 'golden-malformed', 'replies.json'],
    ['a merge conflict', (t: string) => `<<<<<<< HEAD\n${t}`, 'golden-malformed', 'replies.json'],
    ['a newer format', (t: string) => t.replace('"format": 1', '"format": 2'), 'golden-newer-format', 'format 2'],
    ['no format', (t: string) => t.replace('"format": 1,', ''), 'golden-malformed', 'format'],
  ])('say what is wrong and where: %s', (_, change, code, where) => {
    const error = corrupt(change);
    expect(error.code).toBe(code);
    expect(error.message).toContain('replies.json');
    expect(error.message).toContain(where);
    expect(error.hint).toMatch(/\w/u);
  });

  test('name those of the same weights and tokenizer that another folder name hides', () => {
    open().save('replies', [{ request: request('a'), answer: answer() }], provenance);
    const other = openGoldenStore({ root, checkpoint: 'a link', weightsHash: 'aaaaaaaabbbb', tokenizerHash: 'ccccccccdddd' });
    expect(() => other.load('replies')).toThrow(
      expect.objectContaining({
        code: 'golden-missing',
        message: expect.stringContaining('tiny-aaaaaaaa-cccccccc is of the same'),
        hint: expect.stringContaining('called tiny,'),
      }),
    );
    for (const weights of [{ weightsHash: 'eeeeeeee' }, {}]) {
      const foreign = openGoldenStore({ root, checkpoint: 'a link', ...weights, tokenizerHash: 'ccccccccdddd' });
      expect(() => foreign.load('replies')).toThrow(expect.objectContaining({ message: expect.not.stringContaining('is of the same') }));
    }
  });

  test('tell how to record what is missing', () => {
    const store = open();
    expect(codeOf(() => store.load('replies'))).toBe('golden-missing');
    store.save('replies', [{ request: request('a'), answer: answer() }], provenance);
    expect(codeOf(() => store.get('replies', request('z')))).toBe('golden-missing');
    expect(codeOf(() => store.get('replies', request('a', 'another prompt')))).toBe('golden-missing');
  });
});
