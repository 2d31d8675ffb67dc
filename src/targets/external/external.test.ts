import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { connectExternalTarget, exited, httpReady, tcpOpen, waitForAll } from './index.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

/** A server with Triton's health, metadata, index and configuration, ready after some time. */
async function serveTriton(readyAfterMs = 0): Promise<string> {
  const readyNs = nowNs() + readyAfterMs * 1e6;
  const server = createServer((request, response) => {
    const answers: Record<string, object> = {
      '/v2': { name: 'triton', version: '2.51.0', extensions: ['classification'] },
      '/v2/repository/index': [
        { name: 'tensorrt_llm', state: 'READY' },
        { name: 'broken', state: 'UNAVAILABLE' },
        { name: 'ensemble', state: 'READY' },
      ],
      '/v2/models/ensemble/config': { name: 'ensemble', max_batch_size: 4 },
    };
    const path = request.url ?? '';
    if (path.startsWith('/v2/health/')) response.statusCode = nowNs() >= readyNs ? 200 : 400;
    else if (answers[path] === undefined) response.statusCode = 404;
    response.end(JSON.stringify(answers[path] ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ [Symbol.asyncDispose]: async () => void server.close() });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closedPort(): Promise<string> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
}

const endpoints = (http: string, grpc = http, openai?: string) => ({ http, grpc, metrics: undefined, openai });

describe('an external target', () => {
  test('is waited for and then says what it is; what nothing tells is unknown', async () => {
    const http = await serveTriton(200);
    await using target = await connectExternalTarget({ endpoints: endpoints(http) });
    expect(target.identity).toMatchObject({
      name: 'triton',
      triton: '2.51.0',
      served: 'ensemble tensorrt_llm',
      'config of tensorrt_llm': 'unknown',
      gpu: 'unknown',
    });
    expect(target.identity['config of ensemble']).toMatch(/^[0-9a-f]{12}$/);
    expect(await target.health()).toEqual({ alive: true, detail: '' });
  });

  test('the address that does not answer is named, and only that one', async () => {
    const http = await serveTriton();
    const grpc = await closedPort();
    await expect(connectExternalTarget({ endpoints: endpoints(http, grpc), readyWithinMs: 400 })).rejects.toMatchObject({
      code: 'target-unreachable',
      message: `[target-unreachable] waited 400 ms for ${grpc} to accept a connection, in vain`,
    });
  });

  test('an OpenAI front end that is not there is found before the run', async () => {
    const http = await serveTriton();
    const openai = `http://${await closedPort()}`;
    await expect(connectExternalTarget({ endpoints: endpoints(http, http, openai), readyWithinMs: 400 })).rejects.toThrow(openai.slice(7));
  });
});

describe('waiting', () => {
  test('all strategies share one deadline', async () => {
    const closed = await closedPort();
    const beginNs = nowNs();
    await expect(waitForAll([tcpOpen(closed), httpReady(`http://${closed}/`)], { ms: 300 })).rejects.toThrow(
      /accept a connection and http:.* to answer 200/,
    );
    expect(nowNs() - beginNs).toBeLessThan(1e9);
  });

  test('an interruption is not a deadline', async () => {
    await expect(waitForAll([tcpOpen(await closedPort())], { ms: 5_000, signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      code: 'interrupted',
    });
  });

  test('an exit is noticed although it happened before the wait', async () => {
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, ['--eval', '']);
    await once(child, 'close');
    const died = exited(child, () => new Error('it died') as never);
    await expect(waitForAll([tcpOpen(await closedPort())], { ms: 5_000, failFast: [died] })).rejects.toThrow('it died');
  });
});
