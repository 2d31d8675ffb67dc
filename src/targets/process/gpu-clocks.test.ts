import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockGpuClocks } from './gpu-clocks.ts';

const PATH = process.env['PATH'];
const folder = mkdtempSync(join(tmpdir(), 'lockstep-smi-'));
afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true, force: true });
});

test('clocks are locked to one frequency and freed afterwards; a refusal and a missing program are told apart', async () => {
  process.env['PATH'] = folder;
  await expect(lockGpuClocks(1410)).rejects.toThrow('[gpu-clocks-not-locked] there is no nvidia-smi on this host');
  const program = (body: string) => writeFileSync(join(folder, 'nvidia-smi'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  program(`echo "$@" >> ${folder}/calls`);
  const clocks = await lockGpuClocks(1410);
  await clocks.reset();
  expect(readFileSync(join(folder, 'calls'), 'utf8')).toBe('--lock-gpu-clocks=1410,1410\n--reset-gpu-clocks\n');
  program('echo "The current user does not have permission"; exit 4');
  await expect(lockGpuClocks(1410)).rejects.toMatchObject({
    message: '[gpu-clocks-not-locked] nvidia-smi did not lock the GPU clocks to 1410 MHz',
    context: { output: expect.stringContaining('does not have permission') },
  });
});
