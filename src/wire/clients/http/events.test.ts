import { expect, test } from 'vitest';
import type { LockstepError } from '#core/errors/index.ts';
import { tcpServer } from '../testing.ts';
import type { BodyEvent } from './events.ts';
import { httpClient } from './index.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (bytes: Buffer | string): Buffer => {
  const body = Buffer.from(bytes as string);
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
};
const LAST = Buffer.from('0\r\n\r\n');

interface Read {
  readonly events: readonly BodyEvent[];
  readonly ending: string;
  readonly error: string | undefined;
}

/** Serves these writes one by one, then closes, and reads the answer as a client does. */
async function read(writes: readonly (Buffer | string)[]): Promise<Read> {
  await using server = await tcpServer((socket) => {
    const left = [...writes];
    const timer = setInterval(() => {
      const bytes = left.shift();
      if (bytes !== undefined) socket.write(bytes);
      else socket.end(() => clearInterval(timer));
    }, 2);
  });
  await using client = httpClient(server.address);
  const stream = client.openGenerate('m', {}, { stream: true, deadlineMs: 10_000 });
  const events: BodyEvent[] = [];
  let error: string | undefined;
  try {
    for await (const event of stream.events) events.push(event);
  } catch (thrown) {
    error = (thrown as LockstepError).code;
  }
  return { events, ending: (await stream.ending).kind, error };
}

test('events split anywhere, inside characters too, come out whole', async () => {
  const body = Buffer.from('data: {"text_output":"日本"}\n\ndata: {"text_output":"🙂"}\n\n');
  const writes = [...body].map((byte) => chunk(Buffer.from([byte])));
  const { events, ending } = await read([HEAD, ...writes, LAST]);
  expect(events.map((e) => e.json)).toEqual([{ text_output: '日本' }, { text_output: '🙂' }]);
  expect(ending).toBe('complete');
});

test('[DONE] is marked and is no JSON', async () => {
  const { events } = await read([HEAD, chunk('data: {"a":1}\n\ndata: [DONE]\n\n'), LAST]);
  expect(events).toEqual([
    { text: '{"a":1}', json: { a: 1 }, done: false, invalidUtf8: undefined },
    { text: '[DONE]', json: undefined, done: true, invalidUtf8: undefined },
  ]);
});

test('a body without its last chunk is broken, after the events that came', async () => {
  const { events, ending, error } = await read([HEAD, chunk('data: {"a":1}\n\n')]);
  expect(events).toHaveLength(1);
  expect({ ending, error }).toEqual({ ending: 'broken', error: 'http-broken' });
});

test('a chunk that is shorter than it says is broken', async () => {
  const { ending, error } = await read([HEAD, 'ff\r\ndata: {"a":1}\n\n']);
  expect({ ending, error }).toEqual({ ending: 'broken', error: 'http-broken' });
});

test('a chunk size that is no number is broken', async () => {
  const { ending, error } = await read([HEAD, chunk('data: {"a":1}\n\n'), 'zz\r\n']);
  expect({ ending, error }).toEqual({ ending: 'broken', error: 'http-broken' });
});

test('a content-length that promises more is broken', async () => {
  const { ending } = await read(['HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"a":1}']);
  expect(ending).toBe('broken');
});

test('a body that ends inside an event says so', async () => {
  const { events, ending, error } = await read([HEAD, chunk('data: {"a":1}\n\ndata: {"b"'), LAST]);
  expect(events).toHaveLength(1);
  expect({ ending, error }).toEqual({ ending: 'complete', error: 'sse-truncated' });
});

test('bytes that are not UTF-8 are told, in the event that has them', async () => {
  const payload = Buffer.concat([Buffer.from('data: {"t":"a'), Buffer.from([0xff]), Buffer.from('"}\n\ndata: {"t":"b"}\n\n')]);
  const { events } = await read([HEAD, chunk(payload), LAST]);
  expect(events.map((e) => e.invalidUtf8)).toEqual(['7b2274223a2261ff227d', undefined]);
  expect(events.map((e) => e.json)).toEqual([{ t: 'a\ufffd' }, { t: 'b' }]);
});

test('NaN and Infinity, which Triton writes into JSON, are read', async () => {
  const { events } = await read([HEAD, chunk('data: {"a":[NaN,-Infinity,1.5],"b":"NaN"}\n\n'), LAST]);
  expect(events[0]?.json).toEqual({ a: [Number.NaN, -Infinity, 1.5], b: 'NaN' });
});

test('a JSON body counts as one event', async () => {
  const { events, ending } = await read([
    'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"error":"x"}',
  ]);
  expect(events.map((e) => e.json)).toEqual([{ error: 'x' }]);
  expect(ending).toBe('complete');
});

test('events are events whatever the content type calls them, also when their first bytes come one by one', async () => {
  const head = HEAD.replace('text/event-stream; charset=utf-8', 'application/json');
  const { events, error } = await read([head, ...['d', 'a', 't', 'a'].map(chunk), chunk(': {"a":1}\n\ndata: {"a":2}\n\n'), LAST]);
  expect(error).toBeUndefined();
  expect(events.map(({ json }) => json)).toEqual([{ a: 1 }, { a: 2 }]);
});
