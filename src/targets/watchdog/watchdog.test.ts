import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findLiving } from '../host/index.ts';
import { registerForCleanup } from './index.ts';

/** A runner in a process of its own: registers what it is told, says when it is done, and waits to be killed. */
async function startRunner(body: string): Promise<ChildProcess> {
  const code = `
    const { registerForCleanup } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))});
    ${body}
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(runner.stdout ?? runner, 'data');
  return runner;
}

/** A server with a child of its own, as tritonserver has Python stubs; both ignore SIGTERM. */
function startServer(mark: string): ChildProcess {
  const stub = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`;
  const server = `process.on('SIGTERM', () => {}); require('node:child_process').spawn(process.execPath, ['--eval', ${JSON.stringify(stub)}, ${JSON.stringify(mark)}]); setInterval(() => {}, 1000)`;
  return spawn(process.execPath, ['--eval', server, mark], { stdio: 'ignore' });
}

const family = async (mark: string, count: number) =>
  expect.poll(() => findLiving(mark).length, { timeout: 5_000, interval: 20 }).toBe(count);
const within5s = async (gone: () => boolean) => expect.poll(gone, { timeout: 5_000, interval: 50 }).toBe(true);

// Processes are started and killed here, some of them after seconds: part of npm run test:processes.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('the watchdog', { timeout: 20_000 }, () => {
  test('after SIGKILL of the runner its server, the stubs, folders and shared memory go within 5 s', async () => {
    const mark = `lockstep_dog_${process.pid}_a_`;
    const server = startServer(mark);
    await family(mark, 2);
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-dog-'));
    writeFileSync(join(dir, 'file'), 'x');
    const shared = join('/dev/shm', `${mark}region`);
    writeFileSync(shared, 'x');
    const runner = await startRunner(`registerForCleanup(${JSON.stringify({ pids: [server.pid], dirs: [dir], shmPrefixes: [mark] })});`);
    runner.kill('SIGKILL');
    await within5s(() => findLiving(mark).length === 0 && !existsSync(dir) && !existsSync(shared));
    expect(findLiving(mark)).toEqual([]);
  });

  test('stubs of a server that died before the runner go too', async () => {
    const mark = `lockstep_dog_${process.pid}_b_`;
    const server = startServer(mark);
    await family(mark, 2);
    const runner = await startRunner(`registerForCleanup({ pids: [${server.pid}] });`);
    server.kill('SIGKILL');
    await family(mark, 1);
    runner.kill('SIGKILL');
    await within5s(() => findLiving(mark).length === 0);
    expect(findLiving(mark)).toEqual([]);
  });

  test('a mark finds processes that started after the registration', async () => {
    const mark = `lockstep_dog_${process.pid}_c_`;
    const runner = await startRunner(`registerForCleanup({ marks: ['lockstep_dog_' + ${process.pid} + '_c_'] });`);
    startServer(mark);
    await family(mark, 2);
    runner.kill('SIGKILL');
    await within5s(() => findLiving(mark).length === 0);
    expect(findLiving(mark)).toEqual([]);
  });

  test('GPU clocks that a killed runner had locked are freed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-dog-'));
    const calls = join(dir, 'calls');
    writeFileSync(join(dir, 'nvidia-smi'), `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 });
    const runner = await startRunner(`
      process.env.PATH = ${JSON.stringify(dir)} + ':' + process.env.PATH;
      const { lockGpuClocks } = await import(${JSON.stringify(join(import.meta.dirname, '../process/gpu-clocks.ts'))});
      await lockGpuClocks(1410);`);
    expect(readFileSync(calls, 'utf8')).toBe('--lock-gpu-clocks=1410,1410\n');
    runner.kill('SIGKILL');
    await within5s(() => readFileSync(calls, 'utf8') === '--lock-gpu-clocks=1410,1410\n--reset-gpu-clocks\n');
    rmSync(dir, { recursive: true });
  });

  test('what was released stays', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-dog-'));
    const other = mkdtempSync(join(tmpdir(), 'lockstep-dog-'));
    const runner = await startRunner(
      `registerForCleanup({ dirs: [${JSON.stringify(dir)}] }).release(); registerForCleanup({ dirs: [${JSON.stringify(other)}] });`,
    );
    runner.kill('SIGKILL');
    await within5s(() => !existsSync(other));
    expect(existsSync(dir)).toBe(true);
    rmSync(dir, { recursive: true });
  });

  test('the runner ends by itself although the watchdog listens to it', async () => {
    const code = `const { registerForCleanup } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))}); registerForCleanup({ marks: ['lockstep_' + 'nothing_'] });`;
    // In two parts: with the mark in its own command line the runner would be swept too, where it is slow to go.
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'inherit' });
    expect((await once(runner, 'exit'))[0]).toBe(0);
  });

  test.each([
    { dirs: ['/'] },
    { dirs: ['/tmp'] },
    { dirs: ['lockstep-x'] },
    { shmPrefixes: [''] },
    { marks: ['node'] },
    { pids: [1] },
    { pids: [0] },
    { pids: [process.pid] },
    { containers: { socket: '/run/docker.sock', label: 'lockstep.run=' } },
    { containers: { socket: 'docker.sock', label: 'lockstep.run=1-aabbccddeeff' } },
  ])('refuses %j, which is too wide', (cleanup) => {
    expect(() => registerForCleanup(cleanup)).toThrow('[cleanup-refused]');
  });
});
