import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { goldenRequests } from '#checks/lab/goldens.ts';
import { LAWS } from '#checks/laws/index.ts';
import { PACKAGE_ROOT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { FAULTS } from '#embedded/faults/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { ORDINARY_CLAIMS } from './run-suite.ts';

const laws = new Set([...LAWS.map((l) => l.id), ...ORDINARY_CLAIMS.flatMap((c) => c.laws), 'server-survives']);
const first = new Set<string>(FAULTS.map((f) => f.caughtBy[0]));

test('every law has a fault that the suite must find by it', () => {
  expect([...laws].filter((id) => !first.has(id)).toSorted()).toEqual([]);
});

test('every fault names laws that there are', () => {
  expect(FAULTS.flatMap((f) => f.caughtBy.filter((id) => !laws.has(id)).map((id) => `${f.id}: ${id}`))).toEqual([]);
  expect(new Set(FAULTS.map((f) => f.id)).size).toBe(FAULTS.length);
});

test('docs/surface.md names claims that there are', () => {
  const claims = new Set(ORDINARY_CLAIMS.map(({ id }) => id));
  const text = readFileSync(join(PACKAGE_ROOT, 'docs/surface.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...(row.split(' | ').at(-1) ?? '').matchAll(/`([\w-]+)`/g)].map(([, claim]) => claim!));
  expect(named.length).toBeGreaterThan(rows.length - 10);
  expect([...new Set(named.filter((claim) => !claims.has(claim)))]).toEqual([]);
});

test('tails that goldens share fill the same blocks of 16 and of 32 behind every beginning', () => {
  const tokenizer = loadTokenizer(TINY_CHECKPOINT);
  const ids = goldenRequests([]).map(({ prompt }) =>
    tokenizer.encode(prompt.kind === 'text' ? prompt.text : '', { addSpecialTokens: true }),
  );
  expect(new Set(ids.map((all) => all.slice(0, 32).join())).size).toBe(3);
  expect(new Set(ids.map((all) => all.slice(32).join())).size).toBe(2);
  expect(Math.min(...ids.map((all) => all.length))).toBeGreaterThan(64);
  expect(ids).toHaveLength(6);
});
