import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { freePorts } from './host/index.ts';
import { exited, httpReady, tcpOpen, waitForAll } from './wait.ts';

const closedPort = async () => `127.0.0.1:${(await freePorts(1))[0]}`;

describe('waiting', () => {
  test('all strategies share one deadline', async () => {
    const closed = await closedPort();
    // One after another, the first would use it up, and be the only one that the message names.
    await expect(waitForAll([tcpOpen(closed), httpReady(closed, '/')], { ms: 300 })).rejects.toThrow(
      /accept a connection and http:.* to answer 200/,
    );
  });

  test('an interruption is not a deadline', async () => {
    await expect(waitForAll([tcpOpen(await closedPort())], { ms: 5_000, signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      code: 'interrupted',
    });
  });

  test('an exit is noticed although it happened before the wait', async () => {
    const child = spawn(process.execPath, ['--eval', '']);
    await once(child, 'close');
    const died = exited(child, () => new Error('it died') as never);
    await expect(waitForAll([tcpOpen(await closedPort())], { ms: 5_000, failFast: [died] })).rejects.toThrow('it died');
  });
});
