import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { spoiledBytes, spoiledJson } from '#core/testing/mutations.ts';
import { refusal } from '#core/testing/refusal.ts';
import { printIndex, printSuite } from './print.ts';
import { readIndex, readSuite } from './read.ts';

const dir = mkdtempSync(join(tmpdir(), 'lockstep goldens of my own '));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const path = join(dir, 'greedy.json');

const INDEX = printIndex({
  format: 1,
  checkpoint: 'tiny',
  tokenizerHash: 'ab',
  recordings: { '7e19e96f': { date: '2026-03-01T00:00:00.000Z', version: '0.1.0', identity: { target: 'embedded' } } },
});
const SUITE = printSuite(
  ['eos', 'length'].map((finish, i) => ({
    request: {
      id: `prompt-${i}`,
      prompt: i === 0 ? { kind: 'text', text: 'a é' } : { kind: 'messages', messages: [{ role: 'user', content: 'a' }] },
      sampling: { kind: 'greedy' },
      limits: { maxTokens: 3, stopWords: ['.'] },
    },
    answer: {
      promptIds: [1, 2],
      ids: [3, 4],
      text: 'b c',
      finish: finish as 'eos',
      margins: [1, 0.5],
      runnerUps: [7, 8],
      logProbs: [-1, -2],
    },
    recorded: '7e19e96f',
  })),
);

const file = fc.constantFrom([SUITE, readSuite] as const, [INDEX, readIndex] as const).chain(([text, read]) =>
  fc
    .oneof(
      spoiledBytes(text),
      spoiledJson(JSON.parse(text)).map((json) => Buffer.from(JSON.stringify(json))),
      fc.jsonValue().map((json) => Buffer.from(JSON.stringify(json))),
    )
    .map((bytes) => ({ bytes, read })),
);

test('a golden file of any content is read, or refused with file, place and a next step', () => {
  const seen: string[] = [];
  fc.assert(
    fc.property(file, ({ bytes, read }) => {
      writeFileSync(path, bytes);
      seen.push(refusal(() => read(path)));
      expect(seen.at(-1)).toMatch(
        /^(accepted$|\[golden-(malformed|newer-format)\] .*greedy\.json(:\d+:\d+|, field .+:| has format |: expected an object))/s,
      );
    }),
    { numRuns: 150 },
  );
  expect(seen.filter((one) => one !== 'accepted').length).toBeGreaterThan(30);
});

test('lists of which one lacks a number are refused by their lengths', () => {
  writeFileSync(path, SUITE.replace('[1, 0.5]', '[1]'));
  expect(() => readSuite(path)).toThrow('goldens.prompt-0.margins: expected 0 or 2 or 3 numbers, received 1');
});
