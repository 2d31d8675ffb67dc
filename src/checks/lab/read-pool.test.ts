import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { spoiledBytes, spoiledJson } from '#core/testing/mutations.ts';
import { refusal } from '#core/testing/refusal.ts';
import { makePlan, readPool, requestOf } from './plan.ts';

const dir = mkdtempSync(join(tmpdir(), 'lockstep prompts of my own '));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const path = join(dir, 'prompts.json');

const GOOD = [
  { name: 'a', kind: 'text', text: 'Say é.', long: true },
  { name: 'b-2', kind: 'chat', messages: [{ role: 'user', content: 'Hello' }], twin: 0.1 },
];
const text = JSON.stringify(GOOD, null, 2);

test('prompts of any content are a pool, or refused with file, entry and a next step', () => {
  const content = fc.oneof(
    spoiledBytes(text),
    spoiledJson(GOOD).map((json) => Buffer.from(JSON.stringify(json))),
    fc.jsonValue().map((json) => Buffer.from(JSON.stringify(json))),
  );
  const seen: string[] = [];
  const use = () =>
    makePlan(readPool(path), 1)
      .draw('fuzz', 3)
      .forEach((prompt) => requestOf(prompt, { maxTokens: 4 }));
  fc.assert(
    fc.property(content, (bytes) => {
      writeFileSync(path, bytes);
      seen.push(refusal(use));
      expect(seen.at(-1)).toMatch(/^(accepted$|\[pool-malformed\] .*prompts\.json(:\d+:\d+|, entry \d+( \(\S+\))?|): )/);
    }),
    { numRuns: 150 },
  );
  expect(seen.filter((one) => one !== 'accepted').length).toBeGreaterThan(30);
});

test.each([
  ['[{"name": "a", "kind": "k"}]', ', entry 1: expected either text or messages'],
  ['[{"name": "a b", "kind": "k", "text": ""}]', ', entry 1 (name): expected letters, digits'],
  ['[{"name": "a", "kind": "k", "text": ""},\n {"name": "b", "kind": "k", "txet": ""}]', ', entry 2: Unrecognized key: "txet"'],
  ['[\n  {"name": "a",}\n]', ':2:16: no JSON: expected double-quoted property name'],
  ['[]', ': '],
])('%j is refused with its place', (content, place) => {
  writeFileSync(path, content);
  expect(() => readPool(path)).toThrow(`[pool-malformed] ${path}${place}`);
});
