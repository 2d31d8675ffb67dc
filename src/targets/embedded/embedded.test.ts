import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { readProcess } from '../host/index.ts';
import { healthOf } from '../alive.ts';
import type { ProcessRef, Target } from '../types.ts';
import { startEmbeddedTarget } from './index.ts';

const program = join(import.meta.dirname, 'samples', 'server.ts');
const start = (profile: string, options: { readonly readyWithinMs?: number; readonly signal?: AbortSignal } = {}) =>
  startEmbeddedTarget({
    program,
    server: { ...EMBEDDED_DEFAULTS, profile },
    ...options,
  });
const failing = (profile: string, options = {}) =>
  start(profile, options).then(
    () => expect.unreachable('it started'),
    (error: unknown) => error,
  );
const gone = (pid: number) =>
  pollUntil({ ms: 5_000, what: `process ${pid} to end`, everyMs: 20 }, () => (readProcess(pid) === undefined ? true : undefined));

// Processes are started and killed here: part of npm run test:processes.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1').concurrent('the embedded target', () => {
  test('serves until it is stopped, and stopping ends the process', async () => {
    const target = await start('default');
    expect(target.identity).toEqual({ server: 'sample' });
    expect(await target.health()).toEqual({ alive: true, detail: '' });
    expect((await fetch(`http://${target.endpoints.http}/`)).status).toBe(200);
    expect(target.logTail()).toContain('behaving as default');
    await target.stop();
    await target.stop();
    await expect(fetch(`http://${target.endpoints.http}/`)).rejects.toThrow('fetch failed');
  });

  test('a server that dies while it starts is reported at once, with its last words', async () => {
    const beginNs = nowNs();
    expect(await failing('dies')).toMatchObject({
      code: 'target-exited',
      message: expect.stringContaining('exited with code 3'),
      context: { log: expect.stringContaining('no checkpoint there') },
    });
    expect(nowNs() - beginNs).toBeLessThan(5e9);
  });

  test('what the server says of its own failure is what the caller reads', async () => {
    expect(await failing('refuses')).toMatchObject({
      code: 'port-taken',
      message: '[port-taken] 8001 is in use',
      hint: 'Use another port.',
    });
  });

  test('a server that never becomes ready runs into the deadline', async () => {
    expect(await failing('silent', { readyWithinMs: 600 })).toMatchObject({
      code: 'target-not-ready',
      message: expect.stringContaining('600 ms'),
    });
  });

  test('an interruption ends the wait', async () => {
    expect(await failing('silent', { signal: AbortSignal.timeout(300) })).toMatchObject({ code: 'interrupted' });
  });

  test('a server killed while it serves is dead, and the signal is named', async () => {
    await using target = await start('default');
    const pid = await pidOf(target);
    process.kill(pid, 'SIGKILL');
    await gone(pid);
    await pollUntil({ ms: 2_000, what: 'the death to be noticed', everyMs: 10 }, async () =>
      (await target.health()).alive ? undefined : true,
    );
    expect((await target.health()).detail).toContain('was killed by SIGKILL');
  });

  test('whoever knows only the processes learns how the server died too, and no file stays', async () => {
    const target = await start('default');
    const processes = await target.processes();
    expect(await healthOf(processes)).toEqual({ alive: true, detail: '' });
    const [{ pid = 0, lastWords = '' }] = processes as [ProcessRef];
    process.kill(pid, 'SIGKILL');
    await gone(pid);
    expect(await healthOf(processes)).toEqual({
      alive: false,
      detail: `the embedded server (process ${pid}) was killed by SIGKILL\nbehaving as default`,
    });
    await target.stop();
    expect(existsSync(lastWords)).toBe(false);
  });

  test('a process id that is somebody else’s by now is not taken for the server', async () => {
    const { startTicks = 0 } = readProcess(process.pid) ?? {};
    const ref = { name: 'the server', pid: process.pid };
    expect(await healthOf([{ ...ref, startTicks }])).toMatchObject({ alive: true });
    expect(await healthOf([{ ...ref, startTicks: startTicks - 1 }])).toMatchObject({ alive: false });
  });

  test('a server that does not listen is killed', async () => {
    const target = await start('deaf');
    await target.stop();
    expect((await target.health()).detail).toContain('SIGKILL');
  }, 15_000);

  test('a killed runner leaves no server behind', async () => {
    const code = `
      const { startEmbeddedTarget } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))});
      const target = await startEmbeddedTarget({ program: ${JSON.stringify(program)}, server: { profile: 'default' } });
      console.log((await target.processes())[0].pid);
      setInterval(() => {}, 1000);`;
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    let server: number;
    try {
      const [line] = (await once(runner.stdout.setEncoding('utf8'), 'data')) as [string];
      server = Number(line);
      expect(readProcess(server)).toBeDefined();
    } finally {
      runner.kill('SIGKILL');
    }
    await gone(server);
    expect(readProcess(server)).toBeUndefined();
  }, 15_000);
});

async function pidOf(target: Target): Promise<number> {
  const [server] = await target.processes();
  if (server?.pid === undefined) throw new Error('the target has no process');
  return server.pid;
}
