/** What needs runs that wait for a server or start one: seconds each, hence with the tests of processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { closedPort, lockstep, MAIN } from './testing.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-cli-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('check as a process', { timeout: 60_000, concurrent: true }, () => {
  test('one claim against the embedded server ends with code 0 and a JSON report where it was asked for', async () => {
    const { code, out } = await lockstep(cwd, ['check', 'metrics-families', '--json', 'out.json']);
    expect(out).toMatch(/✓ metrics +metrics-families .*claims: 1 held, 0 failed, 0 not served/s);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, 'out.json'), 'utf8'))).toMatchObject({
      schema: 1,
      outcome: 'held',
      header: { target: 'embedded' },
      counts: { held: 1 },
    });
  });

  test('--strict-identity without anything to compare with is no run', async () => {
    const { code, error } = await lockstep(cwd, ['check', 'metrics-families', '--strict-identity', '--goldens', 'nowhere']);
    expect(error).toMatch(/^\[identity-unknown\] there are no goldens/);
    expect(code).toBe(2);
  });

  test('a server that is not there is no failed claim', async () => {
    const address = `127.0.0.1:${await closedPort()}`;
    const server = await lockstep(cwd, [
      'check',
      '--target',
      'external',
      '--grpc',
      address,
      '--http',
      address,
      '--tokenizer',
      TINY_CHECKPOINT,
    ]);
    expect(server).toMatchObject({ code: 2, error: expect.stringMatching(/^\[target-unreachable\] waited [^]*next: Start the server/) });
    expect(server.error).not.toMatch(/^ +at /m);
  });

  test('a run whose output nobody reads stops, and does not say that claims hold', async () => {
    const child = spawn(process.execPath, [MAIN, 'check', 'streaming', '--json', 'unread.json'], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(JSON.parse(readFileSync(join(cwd, 'unread.json'), 'utf8'))).toMatchObject({ outcome: 'interrupted' });
  });

  test('an output that cannot be written is no run, and is told', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN, 'help'], { cwd, stdio: ['ignore', full, 'pipe'] });
    let error = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (error += text));
    const ended = await once(child, 'close');
    closeSync(full);
    expect(error).toMatch(/^\[output-not-writable\] .*\n {2}next: /);
    expect(ended).toEqual([2, null]);
  });

  test('SIGINT while a run waits for its target ends with code 130', async () => {
    // Takes connections and says nothing: the first one shows that the run waits, however slow the machine is.
    const silent = createServer((socket) => {
      socket.on('error', () => {});
      if (!child.killed) child.kill('SIGINT');
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const child = spawn(
      process.execPath,
      [MAIN, 'check', '--target', 'external', '--grpc', address, '--http', address, '--tokenizer', TINY_CHECKPOINT],
      { cwd, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let error = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
    const ended = await once(child, 'close');
    silent.close();
    expect(error).toMatch(/^\[interrupted\]/);
    expect(ended).toEqual([130, null]);
  });
});
