import { type Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { grpcClient } from './grpc/index.ts';
import { HttpChannel } from './http/index.ts';
import { withoutSecrets } from './access.ts';
import { grpcServer, httpServer } from './testing.ts';

const access = { headers: { authorization: 'Bearer sesame-9271', 'x-team': 'blue' } };

describe('a server that quotes what it refuses', () => {
  test('over HTTP is quoted without it, and otherwise byte by byte', async () => {
    await using server = await httpServer((request, response) =>
      response
        .writeHead(401)
        .end(JSON.stringify({ error: `no “${request.headers.authorization}” for ${String(request.headers['x-team'])}` })),
    );
    await using channel = new HttpChannel(server.address, access);
    const asked = channel.json({ method: 'GET', path: '/' }, { deadlineMs: 3_000 });
    await expect(asked).rejects.toMatchObject({ code: 'http-401', context: { details: 'no “***” for blue' } });
  });

  test('over gRPC too, in a call and in a stream', async () => {
    const refuse = (metadata: Metadata) => ({ code: status.UNAUTHENTICATED, details: `no ${String(metadata.get('authorization')[0])}` });
    await using server = await grpcServer({
      ServerLive: (call: { readonly metadata: Metadata }, reply: (error: object) => void) => reply(refuse(call.metadata)),
      ModelStreamInfer: (call: { readonly metadata: Metadata; emit(name: 'error', error: object): void }) =>
        call.emit('error', refuse(call.metadata)),
    });
    await using client = grpcClient(server.address, access);
    await expect(client.live({ deadlineMs: 3_000 })).rejects.toMatchObject({ context: { details: 'no ***' } });
    const stream = client.openStream({ deadlineMs: 3_000 });
    expect(await stream.status).toMatchObject({ name: 'UNAUTHENTICATED', details: 'no ***' });
  });
});

test('a token is hidden with the scheme before it and alone; what is as short as a word is not', () => {
  expect(withoutSecrets('Bearer sesame-9271, sesame-9271, blue', access)).toBe('***, ***, blue');
  expect(withoutSecrets('blue')).toBe('blue');
});
