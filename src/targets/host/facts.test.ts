import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hostFacts } from './facts.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockstep host '));
afterAll(() => rmSync(folder, { recursive: true }));

function program(name: string, text: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

test('GPUs and TensorRT-LLM are what the programs of the host say', async () => {
  program('nvidia-smi', 'echo "NVIDIA H200, 570.86.15, GPU-1"; echo "NVIDIA H200, 570.86.15, GPU-2"');
  program('python3', 'echo "a warning"; echo 1.0.0');
  expect(await hostFacts({ path: folder })).toEqual({
    gpu: 'NVIDIA H200, 570.86.15, GPU-1; NVIDIA H200, 570.86.15, GPU-2',
    'tensorrt-llm': '1.0.0',
  });
});

test('what does not answer leaves unknown what there is, and no package is none', async () => {
  program('nvidia-smi', 'echo "NVIDIA-SMI has failed" >&2; exit 9');
  program('python3', 'exit 1');
  expect(await hostFacts({ path: folder })).toEqual({ gpu: 'unknown', 'tensorrt-llm': 'unknown' });
  expect(await hostFacts({ path: '/nowhere' })).toMatchObject({ 'tensorrt-llm': 'unknown' });
  program('nvidia-smi', 'exec sleep 60');
  program('python3', 'exec sleep 60');
  expect(await hostFacts({ path: `${folder}:${process.env['PATH']}`, withinMs: 200 })).toEqual({
    gpu: 'unknown',
    'tensorrt-llm': 'unknown',
  });
});

const PYTHON = ['/usr/bin', '/usr/local/bin'].find((bin) => existsSync(join(bin, 'python3')));
test.skipIf(PYTHON === undefined)('a python3 that has no such package says so', async () => {
  expect(await hostFacts({ path: PYTHON ?? '' })).toMatchObject({ 'tensorrt-llm': expect.stringMatching(/^none$|^\d/) });
});
