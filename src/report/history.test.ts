import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { flakyClaims } from './flaky-claims.ts';
import { appendHistory, type HistoryRun, readHistory } from './history.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockstep-history-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let n = 0;
const fresh = () => join(folder, `${n++}`, 'history.jsonl');
const run = (more: Partial<HistoryRun> = {}): HistoryRun => ({
  schema: 1,
  at: '2026-01-01T00:00:00.000Z',
  outcome: 'held',
  series: 'embedded',
  identity: 'one',
  held: [],
  failed: [],
  tokens: 100,
  parted: 0,
  ...more,
});

test('runs of one series come back in their order, those of others do not', () => {
  const path = fresh();
  const written = [run({ parted: 1 }), run({ series: 'docker' }), run({ parted: 2 })];
  for (const one of written) appendHistory(path, one);
  expect(readHistory(path, 'embedded')).toEqual([written[0], written[2]]);
});

test('a line that a killed run left half costs that line alone', () => {
  const path = fresh();
  appendHistory(path, run({ parted: 1 }));
  appendFileSync(path, '{"schema":1,"at":"2026');
  appendHistory(path, run({ parted: 2 }));
  expect(readHistory(path, 'embedded').map(({ parted }) => parted)).toEqual([1, 2]);
});

test('a file that has grown large keeps its last runs', () => {
  const path = fresh();
  appendHistory(path, run());
  const line = `${JSON.stringify(run({ held: ['x'.repeat(20_000)] }))}\n`;
  writeFileSync(path, line.repeat(401));
  appendHistory(path, run({ parted: 7 }));
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(201);
  expect(readHistory(path, 'embedded').at(-1)?.parted).toBe(7);
});

test('a file of a newer version is not misread', () => {
  const path = fresh();
  appendHistory(path, { ...run(), schema: 2 } as unknown as HistoryRun);
  expect(readHistory(path, 'embedded')).toEqual([]);
});

test('a claim is flaky that held and failed on one identity, not one that another identity broke', () => {
  const runs = [
    run({ held: ['a', 'b'] }),
    run({ failed: ['a'], held: ['b'], at: '2026-01-02T00:00:00.000Z' }),
    run({ held: ['a', 'b'] }),
    run({ failed: ['b', 'c'], identity: 'two' }),
  ];
  expect(flakyClaims(runs)).toEqual([{ claim: 'a', failed: 1, runs: 3, lastFailure: '2026-01-02T00:00:00.000Z' }]);
});
