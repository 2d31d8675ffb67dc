/** grpc-js is the independent end, on either side of the relay. */
import { type ClientDuplexStream, compressionAlgorithms, credentials, type Client, type ServerDuplexStream } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { grpcServer, tcpServer } from '#wire/clients/testing.ts';
import type { ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { GrpcInferenceClient } from '#wire/protocol/service.ts';
import { type Relay, startRelay } from '#wire/relay/index.ts';
import { expanded } from '../content.ts';
import { PREFACE } from './http2.ts';
import { told, type Watched, watched } from './testing.ts';

async function relayTo(upstream: string): Promise<{ readonly relay: Relay } & Watched & AsyncDisposable> {
  const seen = watched();
  const relay = await startRelay({
    upstream,
    tap: (event) => {
      const { decoder } = seen;
      if (event.kind === 'bytes') decoder.bytes(event.from, event.atNs, Buffer.from(event.bytes));
      else if (event.kind === 'end') decoder.end(event.from, event.atNs);
      else if (event.kind === 'reset') decoder.reset(event.from, event.atNs, event.code);
      else if (event.kind === 'closed') decoder.closed(event.atNs);
      return undefined;
    },
  });
  return { ...seen, relay, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
}

type Streaming = Client & { ModelStreamInfer(): ClientDuplexStream<object, object> };

function clientOf(address: string, options = {}): Streaming {
  return new GrpcInferenceClient(address, credentials.createInsecure(), options) as unknown as Streaming;
}

/** Gives the status and the number of messages. */
async function ended(call: ClientDuplexStream<object, object>): Promise<readonly [number, number]> {
  let messages = 0;
  call.on('data', () => messages++);
  call.on('error', () => {});
  const { promise, resolve } = Promise.withResolvers<number>();
  call.on('status', ({ code }) => resolve(code));
  return [await promise, messages];
}

const echo = {
  ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
    call.on('data', ({ id }: ModelInferRequest) => {
      if (id === 'refuse') call.emit('error', { code: 3, details: 'no such tensor' });
      else for (let i = 0; i < 2; i++) call.write({ infer_response: { id: `${id}-${i}`, model_name: 'm'.repeat(20_000) } });
    });
    call.on('end', () => call.end());
  },
};

test('streams of one connection are apart, with several requests on one, compressed and larger than a frame', async () => {
  await using server = await grpcServer(echo);
  await using recorded = await relayTo(server.address);
  const client = clientOf(recorded.relay.address, { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip });
  const calls = [0, 1, 2].map(() => client.ModelStreamInfer());
  for (const [i, call] of calls.entries()) for (let n = 0; n <= i; n++) call.write({ id: `${i}.${n}`, model_name: 'x' });
  calls[1]!.write({ id: 'refuse' });
  for (const call of calls) call.end();
  const statuses = await Promise.all(calls.map(ended));
  expect(statuses.map(([code]) => code)).toEqual([0, 3, 0]);
  client.close();
  await expect.poll(() => recorded.exchanges.every((one) => one.over)).toBe(true);
  expect(recorded.exchanges.map((one) => one.protocol)).toEqual(['grpc', 'grpc', 'grpc']);
  const [first, second, third] = recorded.exchanges.map(told);
  expect(first).toEqual([
    '> request /inference.GRPCInferenceService/ModelStreamInfer',
    '> message gzip',
    '> end',
    '< response',
    '< message',
    '< message',
    '< trailers grpc-status: 0',
  ]);
  expect(second!.at(-1)).toBe('< trailers grpc-status: 3');
  expect(third!.filter((line) => line === '< message')).toHaveLength(6);
  const messages = recorded.exchanges[2]!.events.filter((event) => event.kind === 'message');
  expect(messages.filter(({ from }) => from === 'server').every(({ bytes }) => bytes.length > 20_000)).toBe(true);
  expect(messages.filter(({ from }) => from === 'client').map(({ bytes }) => expanded(bytes, 'gzip')?.toString('latin1'))).toEqual(
    ['2.0', '2.1', '2.2'].map((id) => `\n\u0001x\u001a\u0003${id}`),
  );
});

test('a client that cancels, and a server that does', async () => {
  await using server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<object, object>) => void call.write({ error_message: 'a' }),
  });
  await using recorded = await relayTo(server.address);
  const client = clientOf(recorded.relay.address);
  const [left, lost] = [client.ModelStreamInfer(), client.ModelStreamInfer()];
  const endings = [ended(left), ended(lost)];
  await expect.poll(() => recorded.exchanges.map((one) => told(one).at(-1))).toEqual(['< message', '< message']);
  left.cancel();
  await expect.poll(() => told(recorded.exchanges[0]!).at(-1)).toBe('> reset CANCEL');
  await server[Symbol.asyncDispose]();
  expect((await Promise.all(endings)).map(([code]) => code)).toEqual([1, 1]);
  await expect.poll(() => recorded.exchanges.every((one) => one.over)).toBe(true);
  const second = told(recorded.exchanges[1]!).filter((line) => !line.includes('goaway'));
  expect(second.slice(0, 4)).toEqual(['> request /inference.GRPCInferenceService/ModelStreamInfer', '< response', '< message', '< close']);
  client.close();
});

/** SETTINGS without any, HEADERS with `:status 200` on stream 1 (RFC 7541: index 8), and the first bytes of a message of 16. */
const SETTINGS = '000000040000000000';
const HEADERS = '00000101040000000188';
const HALF = '0000150000000000010000000010616263';

test.each([
  ['half a frame', HEADERS + HALF, ['< response', '< bytes (a message that was cut) "\\u0000\\u0000\\u0000\\u0000\\u0010abc"', '< close']],
  ['half a head of a frame', '0000', ['< bytes (a frame that was cut) "\\u0000\\u0000"', '< close']],
  [
    'a header block that is none',
    '000001010400000001ff',
    ['< bytes (a header block that is none) "\\u0000\\u0000\\u0001\\u0001\\u0004\\u0000\\u0000\\u0000\\u0001ÿ"', '< close'],
  ],
])('%s from a server that leaves is recorded as such', async (_, hex, expected) => {
  await using server = await tcpServer((socket) => {
    socket.write(Buffer.from(SETTINGS, 'hex'));
    // The request follows the client's own settings.
    setTimeout(() => socket.end(Buffer.from(hex, 'hex')), 30);
  });
  await using recorded = await relayTo(server.address);
  const client = clientOf(recorded.relay.address, { 'grpc.enable_retries': 0 });
  const call = client.ModelStreamInfer();
  call.write({ id: 'a' });
  const status = ended(call);
  await expect.poll(() => recorded.exchanges.some((one) => told(one).includes('< close'))).toBe(true);
  call.cancel();
  await status;
  client.close();
  const lines = recorded.exchanges.flatMap(told).filter((line) => line.startsWith('<'));
  expect(lines.slice(0, expected.length)).toEqual(expected);
});

test('settings of a server that come before the client has spoken are none of an exchange', () => {
  const { decoder, exchanges } = watched();
  decoder.bytes('server', 0, Buffer.from(SETTINGS, 'hex'));
  decoder.bytes('client', 0, Buffer.from(`${PREFACE}\u0000\u0000\u0003\u0001\u0005\u0000\u0000\u0000\u0001\u0082\u0084\u0086`, 'latin1'));
  decoder.bytes('server', 0, Buffer.from('00000101050000000188', 'hex'));
  expect(exchanges.map(told)).toEqual([['> request GET /', '> end', '< response 200', '< end']]);
});

test('a preface and then garbage is an exchange of bytes', () => {
  const { decoder, exchanges } = watched();
  decoder.bytes('client', 0, Buffer.from(`${PREFACE}\u0000\u0000\u0000\u0009\u0004\u0000\u0000\u0000\u0001`, 'latin1'));
  decoder.bytes('client', 0, Buffer.from('more'));
  decoder.closed(0);
  expect(exchanges.map(told)).toEqual([
    [
      '> bytes (the rest of a header block that never began) "\\u0000\\u0000\\u0000\\t\\u0004\\u0000\\u0000\\u0000\\u0001"',
      '> bytes (the rest of a header block that never began) "more"',
    ],
  ]);
});
