import { expect, test } from 'vitest';
import { grpcServer, httpServer, unusedAddress } from '#wire/clients/testing.ts';
import { findRunning } from './find.ts';

test('a Triton that runs is found, with its metrics where it has them; half of one is none', async () => {
  await using http = await httpServer((request, response) => response.writeHead(request.url === '/v2/health/live' ? 200 : 404).end());
  await using metrics = await httpServer((_, response) => response.end('up 1\n'));
  await using grpc = await grpcServer({
    ServerLive: (_: unknown, reply: (error: null, body: object) => void) => reply(null, { live: true }),
  });
  const nowhere = await unusedAddress();
  const { signal } = new AbortController();
  const all = { grpc: grpc.address, http: http.address, metrics: metrics.address };
  expect(await findRunning(signal, all)).toEqual(all);
  expect(await findRunning(signal, { ...all, metrics: nowhere })).toEqual({ grpc: all.grpc, http: all.http });
  expect(await findRunning(signal, { ...all, grpc: nowhere })).toBeUndefined();
  expect(await findRunning(signal, { ...all, http: nowhere })).toBeUndefined();
});
