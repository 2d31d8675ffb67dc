/** The commands as a user starts them: an upgrade to an engine built anew, its goldens reviewed by hand, and a bisection over real releases. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { readUpgrade } from '#report/upgrade/index.ts';
import { rebuilt } from './rebuilt.ts';

const MAIN = join(PACKAGE_ROOT, 'src/cli/main.js');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-commands-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

async function lockstep(args: readonly string[], input = ''): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stdin.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject);
  child.on('close', resolve);
  return { code: await promise, out };
}

test('an upgrade is judged and written down, and what it changed is accepted case by case', async () => {
  using checkpoint = rebuilt(TINY_CHECKPOINT, join(folder, 'rebuilt'), () => 1 / 300);
  const [json, markdown] = [join(folder, 'upgrade.json'), join(folder, 'upgrade.md')];
  const sides = ['--from', 'embedded', '--to', `embedded:${checkpoint.path}`];
  const { code, out } = await lockstep(['upgrade', ...sides, 'metrics/', '--json', json, '--markdown', markdown]);
  expect(out.trim().split('\n').at(-1)).toBe(`REVIEW embedded → embedded:${checkpoint.path}`);
  expect(code).toBe(3);
  expect(readFileSync(markdown, 'utf8')).toMatch(
    /^# REVIEW: embedded → [^\n]*\n\n\d+ of \d+ answers differ \(≤ \d+ %\), each of them a flip that its margin explains\. No claim got worse/,
  );
  const { answers, contract, runs } = readUpgrade(json);
  expect(contract!.differences).toEqual([]);
  expect(runs!.judged).toBeGreaterThan(3);
  const goldens = join(folder, 'goldens');
  cpSync(join(PACKAGE_ROOT, 'goldens'), goldens, { recursive: true });
  const reviewed = await lockstep(
    ['goldens', 'review', json, '--goldens', goldens, '--decisions', join(folder, 'decisions.json')],
    'a\nx\nr\ns\nq\n',
  );
  expect(reviewed.code).toBe(1);
  expect(reviewed.out).toContain(`1 accepted, 1 rejected, ${answers!.differences.length - 2} open`);
  expect(Object.values(JSON.parse(readFileSync(join(folder, 'decisions.json'), 'utf8')) as object)).toEqual(['accept', 'reject']);
});

test('bisection over eight real releases finds the one that checks byte sizes, in three starts', async () => {
  const { code, out } = await lockstep([
    'bisect',
    '--good',
    'process:2.42',
    '--bad',
    'process:2.49',
    'contract/edge_echo/grpc/short-data=OK',
  ]);
  expect(code).toBe(0);
  // Found by hand before: docs/observed.md#triton-by-release.
  expect(out).toContain('first bad process:2.47, after process:2.46 · 3 of 8 started');
  expect(out).toContain('INVALID_ARGUMENT');
});
