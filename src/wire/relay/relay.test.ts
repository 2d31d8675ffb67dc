import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sha256 } from '#core/hash/index.ts';
import { unusedAddress } from '#wire/clients/testing.ts';
import { type Relay, type TapEvent, startRelay } from './index.ts';

/** A relay to a server that does this with each connection, and what the relay's tap was told. */
async function relayed(
  handle: (socket: Socket) => void,
): Promise<{ readonly relay: Relay; readonly taps: TapEvent[]; client(): Socket } & AsyncDisposable> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    handle(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const taps: TapEvent[] = [];
  const relay = await startRelay({
    upstream: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    tap: (event) => {
      taps.push(event);
      return undefined;
    },
  });
  return {
    relay,
    taps,
    client: () => connect({ port: Number(relay.address.split(':')[1]), allowHalfOpen: true }),
    [Symbol.asyncDispose]: async () => {
      await relay[Symbol.asyncDispose]();
      server.close();
    },
  };
}

const told = (taps: readonly TapEvent[]): string[] =>
  taps.map((tap) => ('from' in tap ? `${tap.from} ${tap.kind}` : tap.kind) + (tap.kind === 'reset' ? ` ${tap.code}` : ''));

test('a half-close passes, and the answer comes after it', async () => {
  await using to = await relayed((socket) => void buffer(socket).then((asked) => socket.end(`${asked.toString()}!`)));
  const client = to.client();
  client.end('hello');
  expect((await buffer(client)).toString()).toBe('hello!');
  await expect.poll(() => told(to.taps).at(-1)).toBe('closed');
  expect(told(to.taps)).toEqual(['open', 'client bytes', 'client end', 'server bytes', 'server end', 'closed']);
});

test('a reset passes as a reset, from either side', async () => {
  await using to = await relayed((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const client = to.client();
  client.write('x');
  const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNRESET');
  await expect.poll(() => told(to.taps).at(-1)).toBe('closed');
  expect(told(to.taps)).toContain('server reset ECONNRESET');

  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  await using other = await relayed((socket) => {
    socket.on('error', (thrown: NodeJS.ErrnoException) => resolve(thrown.code));
    socket.write('y');
  });
  const leaver = other.client();
  await once(leaver, 'data');
  leaver.resetAndDestroy();
  expect(await promise).toBe('ECONNRESET');
  await expect.poll(() => told(other.taps).at(-1)).toBe('closed');
  expect(told(other.taps)).toContain('client reset ECONNRESET');
});

test('a server that is not there resets the client, and the tap knows why', async () => {
  const taps: TapEvent[] = [];
  await using relay = await startRelay({
    upstream: await unusedAddress(),
    tap: (event) => {
      taps.push(event);
      return undefined;
    },
  });
  const client = connect(Number(relay.address.split(':')[1]));
  await expect(once(client, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect.poll(() => told(taps).at(-1)).toBe('closed');
  expect(told(taps)).toEqual(['open', 'server reset ECONNREFUSED', 'closed']);
});

test('every byte passes, in order, to a reader that is slow, and while the tap holds back', async () => {
  const sent = randomBytes(1024 * 1024);
  const server = createServer((socket) => socket.end(sent));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tapped: Uint8Array[] = [];
  let held = 0;
  await using relay = await startRelay({
    upstream: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    tap: (event) => {
      if (event.kind !== 'bytes') return undefined;
      tapped.push(event.bytes);
      if (tapped.length % 10 > 0) return undefined;
      held++;
      return new Promise((release) => setTimeout(release, 2));
    },
  });
  const client = connect(Number(relay.address.split(':')[1]));
  client.pause();
  await new Promise((later) => setTimeout(later, 30));
  const received = await buffer(client);
  expect(sha256(received)).toBe(sha256(sent));
  expect(sha256(Buffer.concat(tapped))).toBe(sha256(sent));
  expect(held).toBeGreaterThan(0);
  server.close();
});

test('a relay that is closed closes its connections', async () => {
  const to = await relayed((socket) => socket.write('x'));
  const client = to.client();
  await once(client, 'data');
  const closed = once(client.resume(), 'end').catch(() => undefined);
  await to[Symbol.asyncDispose]();
  await closed;
  const again = to.client();
  await expect(once(again, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
