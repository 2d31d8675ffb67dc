import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { resolveSettings, TINY_CHECKPOINT, toRunConfig } from '#core/config/index.ts';
import { startTarget } from '#targets/index.ts';
import { lockstep, lockstepHere } from '../testing.ts';

let cwd: string;
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** A folder with blanks in its name and somebody's tokenizer in it. */
function newFolder(): void {
  cwd = mkdtempSync(join(tmpdir(), 'lockstep init '));
  mkdirSync(join(cwd, 'llama'));
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'config.json'])
    cpSync(join(TINY_CHECKPOINT, file), join(cwd, 'llama', file));
}

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('from nothing to goldens', { timeout: 120_000 }, () => {
  test('init, doctor, goldens record and check, on a server that runs', async () => {
    newFolder();
    await using target = await startTarget(toRunConfig(await resolveSettings({ command: 'check', env: {}, cwd }), cwd));
    const { grpc, http } = target.endpoints;
    expect(await lockstep(cwd, ['init', '--grpc', grpc, '--http', http])).toMatchObject({ code: 0, error: '' });
    expect(await lockstep(cwd, ['doctor'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ok +target +triton 2\.51\.0 is ready/m),
    });
    const recorded = await lockstep(cwd, ['goldens', 'record']);
    expect(recorded).toMatchObject({ code: 0, out: expect.stringMatching(/8[0-9] added, 0 changed, 0 unchanged/) });
    const checked = await lockstep(cwd, ['check', 'goldens', 'ensemble-equals-raw', 'raw-streams']);
    expect(checked.out).toMatch(/✓ goldens +greedy .* goldens identical/);
    expect(checked).toMatchObject({ code: 0, out: expect.stringMatching(/claims: 3 held, 0 failed/) });
  });

  test('nothing is written over what is there, and what is missing or ambiguous is named', async () => {
    newFolder();
    expect(await lockstepHere(cwd, ['init'])).toMatchObject({
      code: 2,
      error: expect.stringMatching(/^\[init-nothing-found\].*\n {2}next: Name what you serve/),
    });
    for (const name of ['a', 'b']) {
      mkdirSync(join(cwd, name));
      writeFileSync(
        join(cwd, name, 'config.json'),
        JSON.stringify({ version: '1.0.0', pretrained_config: { mapping: { world_size: 1 } } }),
      );
      writeFileSync(join(cwd, name, 'rank0.engine'), '');
    }
    expect(await lockstepHere(cwd, ['init'])).toMatchObject({
      code: 2,
      error: expect.stringMatching(/more than one engine folder[^]*found: \.\/a, \.\/b\n/),
    });
    expect(readdirSync(cwd).toSorted()).toEqual(['a', 'b', 'llama']);
    const made = await lockstepHere(cwd, ['init', '--engine-dir', 'a', '--image', `x@sha256:${'0'.repeat(64)}`]);
    expect(made).toMatchObject({ code: 0, error: '' });
    const text = readFileSync(join(cwd, 'lockstep.config.ts'), 'utf8');
    expect(text).toContain("  target: 'docker',\n");
    // An engine is served by a repository, and this is the command that makes it.
    expect(text).toContain("  repository: './models',\n");
    expect(made.out).toContain(
      'next:    npx lockstep repository create --engine-dir ./a --tokenizer ./llama --output ./models --nvidia-models DIR\n',
    );
    expect(text).toContain("  // as you said, built by TensorRT-LLM 1.0.0\n  engineDir: './a',\n");
    expect(await lockstepHere(cwd, ['init', '--engine-dir', 'a'])).toMatchObject({
      code: 2,
      error: expect.stringMatching(/^\[init-exists\]/),
    });
    expect(readFileSync(join(cwd, 'lockstep.config.ts'), 'utf8')).toBe(text);
  });
});
