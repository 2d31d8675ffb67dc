import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { resolveSettings, TINY_CHECKPOINT, toRunConfig } from '#core/config/index.ts';
import { startTarget } from '#targets/index.ts';
import { lockstep } from './testing.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-openai-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const PROFILE = 'openai=trtllm-serve-1.1';

/** The embedded trtllm-serve, of which the run is told its one address. */
async function checkOf(fault: string, filters: readonly string[], more: readonly string[] = []) {
  const env = { LOCKSTEP_PROFILE: PROFILE, LOCKSTEP_FAULT: fault };
  await using target = await startTarget(toRunConfig(await resolveSettings({ command: 'check', env, cwd }), cwd));
  const where = ['--target', 'openai', '--openai', target.endpoints.openai as string, '--tokenizer', TINY_CHECKPOINT];
  return await lockstep(cwd, ['check', ...filters, ...where, ...more]);
}

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('target openai', { timeout: 120_000, concurrent: true }, () => {
  test('answers are held to goldens, streams to their laws, and the rest says why it is not', async () => {
    const { code, out } = await checkOf('', ['agreement', 'openai', 'raw-streams']);
    expect(code).toBe(0);
    expect(out).toMatch(/✓ agreement +openai-completions-equals-raw .* 80\/80 answers identical/);
    expect(out).toMatch(/✓ agreement +usage +.* 160\/160 answers counted/);
    expect(out).toMatch(/✓ streaming +openai-chat-streams/);
    expect(out).toMatch(/○ streaming +raw-streams .*not served: only the OpenAI front end of this target is known/);
    expect(out).toMatch(/served tiny · owned by tensorrt_llm · tensorrt-llm 1\.1\.0/);
    // It says so itself.
    expect(out).toMatch(/profile openai=trtllm-serve-1\.1/);
  });

  test('answers that change amid others are found, with goldens and without', async () => {
    const fault = 'batch-gt1-wrong-concurrent-equal';
    const [judged, alone, sound] = await Promise.all([
      checkOf(fault, ['amid-neighbours']),
      checkOf(fault, ['by-itself'], ['--goldens', 'nowhere']),
      checkOf('', ['by-itself'], ['--goldens', 'nowhere']),
    ]);
    expect(judged).toMatchObject({ code: 1, out: expect.stringMatching(/✗ determinism amid-neighbours .*breaks batch-invariance/) });
    expect(alone).toMatchObject({ code: 1, out: expect.stringMatching(/✗ determinism by-itself .*breaks same-text/) });
    expect(sound).toMatchObject({ code: 0, out: expect.stringMatching(/✓ determinism by-itself .*120\/120 answers as the first time/) });
  });
});
