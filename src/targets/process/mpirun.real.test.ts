import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import { modelRepository } from '../model-repository.ts';
import { layOutTriton, startTritonServer } from './index.ts';
import { findLiving } from '../host/index.ts';

const able = process.env['LOCKSTEP_REAL'] === '1' && spawnSync('mpirun', ['--version']).status === 0;

// A second rank of TensorRT-LLM never returns from loading its engine; here a program that waits stands in for it.
describe.skipIf(!able)('ranks under mpirun', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-mpirun-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('the first serves, and no rank, stub or shared memory is left after the stop', async () => {
    const layout = await layOutTriton();
    const program = join(folder, 'tritonserver');
    writeFileSync(program, `#!/bin/sh\ncase "$*" in *--model-control-mode=explicit*) exec sleep 613;; esac\nexec ${layout.program} "$@"\n`);
    chmodSync(program, 0o755);
    const mark = `lockstep_${process.pid}_`;
    const before = findLiving(mark).length;
    const server = await startTritonServer({
      repository: modelRepository(TINY_CHECKPOINT, DEFAULT_PROFILE.core),
      layout: { ...layout, program },
      worldSize: 2,
    });
    try {
      expect(server.identity['triton']).toBe('2.51.0');
      expect(execFileSync('ps', ['-o', 'args=', '--ppid', String(server.pid)], { encoding: 'utf8' })).toContain('sleep 613');
      expect((await server.health()).alive).toBe(true);
    } finally {
      await server.stop();
    }
    expect(findLiving(mark)).toHaveLength(before);
    expect(readdirSync('/dev/shm').filter((name) => name.startsWith(mark))).toEqual([]);
    expect(spawnSync('pgrep', ['-f', 'sleep 613'], { encoding: 'utf8' }).stdout).toBe('');
  });
});
