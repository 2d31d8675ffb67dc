/** Shards write blobs, and vitest's own merge makes of them the report that one direct run gives. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { RunData } from '#report/html/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockstep-merge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Two files, of which one fails: an answer that never ends is no golden. */
const RUN = ['--project', 'suites', 'suites/goldens', 'suites/lifecycle'];

function vitest(args: readonly string[], name?: string): string {
  const files = {
    LOCKSTEP_JSON: join(folder, `${name}.json`),
    LOCKSTEP_JUNIT: join(folder, `${name}.xml`),
    LOCKSTEP_REPORT: `html=${join(folder, `${name}.html`)}`,
  };
  const { stdout, stderr } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
    cwd: PACKAGE_ROOT,
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...process.env,
      LOCKSTEP_FAULT: 'never-stops-at-eos',
      NO_COLOR: '1',
      VITEST: undefined,
      VITEST_MODE: undefined,
      ...(name === undefined ? {} : files),
    },
  });
  return stdout + stderr;
}

/** Without times, ports, and what names a run. */
function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  if (typeof value !== 'object' || value === null) return value;
  const passing = ['durationMs', 'startedAt', 'endpoints', 'atMs', 'endedMs', 'fixture'];
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (passing.includes(key) ? [] : [[key, lasting(inner)]])));
}

const json = (name: string) => lasting(JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')));
const xml = (name: string) => readFileSync(join(folder, `${name}.xml`), 'utf8').replace(/ (?:time|timestamp)="[^"]*"|fixture +\S+/g, '');
function page(name: string) {
  const [, before = '', data = '', after = ''] =
    /^(.*<script type="application\/json" id="data">)(.*?)(<\/script>.*)$/s.exec(readFileSync(join(folder, `${name}.html`), 'utf8')) ?? [];
  return { shell: before + after, report: lasting((JSON.parse(data) as RunData).report) };
}

test('a merge of two shards reports what a direct run reports, but for times', () => {
  const direct = vitest(RUN, 'direct');
  for (const shard of [1, 2])
    vitest([...RUN, `--shard=${shard}/2`, '--reporter=blob', `--outputFile=${join(folder, `blobs/${shard}.json`)}`]);
  const merged = vitest(['--merge-reports', join(folder, 'blobs')], 'merged');
  const verdict = /^claims: 2 held, 1 failed, 0 not served/m;
  expect(direct).toMatch(verdict);
  expect(merged).toMatch(verdict);
  expect(json('merged')).toEqual(json('direct'));
  expect(xml('merged')).toBe(xml('direct'));
  expect(page('merged').shell === page('direct').shell).toBe(true);
  expect(page('merged').report).toEqual(json('direct'));
}, 300_000);
