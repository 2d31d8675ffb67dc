/** Commands that ask a server or a tokenizer: seconds each, hence with the tests of processes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY, PACKAGE_ROOT, SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { closedPort, lockstepHere } from './testing.ts';

const REAL = process.env['LOCKSTEP_REAL'] === '1';
const cwd = mkdtempSync(join(tmpdir(), 'lockstep-cli-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe.skipIf(!REAL)('doctor', { timeout: 30_000, concurrent: true }, () => {
  test('a complete checkout is ready', async () => {
    const { code, out } = await lockstepHere(cwd, ['doctor']);
    expect(out).toMatch(/^ok +node +v/m);
    expect(out).toMatch(/^ok +checkpoint +vocabulary 512, bos 0, eos 1, pad 2; the tokenizer agrees$/m);
    expect(code).toBe(0);
  });

  test('what is wrong is named with a next step, and the code is 2', async () => {
    const port = await closedPort();
    const { code, out } = await lockstepHere(
      cwd,
      ['doctor', '--target', 'external', '--grpc', `127.0.0.1:${port}`, '--http', `127.0.0.1:${port}`, '--tokenizer', 'nowhere'],
      { LOCKSTEP_SEDE: '1', LOCKSTEP_FAULTS: 'all' },
    );
    expect(code).toBe(2);
    expect(out).toMatch(/^fail +tokenizer/m);
    expect(out).toMatch(/^fail +target +\[target-unreachable\]/m);
    expect(out).not.toContain('LOCKSTEP_FAULTS');
    expect(out).toMatch(/^warn +environment +LOCKSTEP_SEDE means nothing\n +next: Did you mean LOCKSTEP_SEED\?$/m);
  });
});

describe.skipIf(!REAL)('doctor of a repository', { timeout: 30_000, concurrent: true }, () => {
  test('one that fits is told with its models, another tokenizer beside it is a failure', async () => {
    const asked = (...more: readonly string[]) =>
      lockstepHere(cwd, ['doctor', '--target', 'process', '--repository', MODEL_REPOSITORY, ...more]);
    const [fits, other] = await Promise.all([asked('--tokenizer', TINY_CHECKPOINT), asked('--tokenizer', SPM_CHECKPOINT)]);
    expect(fits.out).toMatch(/^ok +repository +.*docker\/models: ensemble .* tensorrt_llm /m);
    expect(other.out).toMatch(/^fail +repository +.*preprocessing\/config\.pbtxt:\d+: tokenizer_dir is another tokenizer/m);
    expect(other.code).toBe(2);
  });
});

describe.skipIf(!REAL)('identify', { timeout: 30_000 }, () => {
  test('says what the target is and loaded, writes it, and compares what was written', async () => {
    const { code, out } = await lockstepHere(cwd, ['identify', '--json', 'one.json']);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}triton +2\.51\.0$/m);
    expect(out).toMatch(/^ {2}config of tensorrt_llm +[0-9a-f]{12}$/m);
    const one = JSON.parse(readFileSync(join(cwd, 'one.json'), 'utf8')) as { readonly identity: Record<string, string> };
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ header: { identity: { ...one.identity, triton: '2.50.0', gpu: 'unknown' } } }));
    expect(await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'one.json'])).toMatchObject({ code: 0 });
    const differing = await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'other.json']);
    expect(differing.code).toBe(1);
    expect(differing.out).toMatch(/^≠ triton {2}2\.51\.0 {2}→ {2}2\.50\.0\n\? not told by both: gpu\n1 part differs/);
    for (const [text, words] of [
      ['geheim-7719', 'is no JSON'],
      ['null', 'holds no identity'],
      ['["a"]', 'holds no identity'],
      ['{"identity":"abc"}', 'holds no identity'],
      ['{"identity":{"gpu":1}}', 'holds no identity'],
      ['{"header":null,"recordings":{"a":null}}', 'holds no identity'],
      ['{"recordings":{}}', 'holds no identity'],
    ] as const) {
      writeFileSync(join(cwd, 'weird.json'), text);
      expect(await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'weird.json'])).toEqual({
        code: 2,
        out: '',
        error: expect.stringMatching(new RegExp(`^\\[identity-unreadable\\] ${join(cwd, 'weird.json')} ${words}\\n {2}next: Name a file`)),
      });
    }
    const goldens = join(PACKAGE_ROOT, 'goldens');
    expect((await lockstepHere(cwd, ['identify', '--diff', goldens, 'one.json'])).error).toMatch(/next: Name one of those in it: tiny-/);
    expect((await lockstepHere(cwd, ['identify', '--diff', join(goldens, 'tiny-1ac0dd1d-b7851867'), 'one.json'])).code).toBeLessThan(2);
    const unread = await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'nowhere.json']);
    expect(unread).toMatchObject({ code: 2, error: expect.stringMatching(/^\[identity-unreadable\] cannot read .*nowhere\.json/) });
  });
});
