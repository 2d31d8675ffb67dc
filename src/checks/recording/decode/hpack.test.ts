/** nghttp2, behind node:http2, is the independent encoder. */
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startRelay } from '#wire/relay/index.ts';
import type { FixtureEvent, FixtureProtocol } from '../types.ts';
import { SniffingDecoder } from './connection.ts';
import { HpackDecoder } from './hpack.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('the examples of RFC 7541, C.4: Huffman code and a table that fills', () => {
  const decoder = new HpackDecoder();
  expect(decoder.decode(hex('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff'))).toEqual([
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ]);
  expect(decoder.decode(hex('8286 84be 5886 a8eb 1064 9cbf'))?.slice(3)).toEqual([
    [':authority', 'www.example.com'],
    ['cache-control', 'no-cache'],
  ]);
  expect(decoder.decode(hex('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf'))?.slice(2)).toEqual([
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ]);
});

test.each([
  ['an index of no entry', 'ff00'],
  ['a string that is longer than the block', '0005 61'],
  ['padding that is no part of the end', '0081 00 01 61'],
  ['an integer without an end', 'ff ff ff ff ff ff'],
  ['a table of four gigabytes', '3f ff ff ff ff 0f'],
])('%s is no header block', (_, block) => {
  expect(new HpackDecoder().decode(hex(block))).toBeUndefined();
});

test('whatever nghttp2 writes is read back, on connections whose tables turn over', { timeout: 20_000 }, async () => {
  const server = createServer({ settings: { headerTableSize: 300 } }, (request, response) => {
    const { ':path': path, ...rest } = request.headers;
    const own = Object.fromEntries(Object.entries(rest).filter(([name]) => name.startsWith('x-')));
    response.writeHead(200, { ...own, 'x-path': path as string }).end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const seen: { readonly protocol: FixtureProtocol; readonly events: FixtureEvent[]; over: boolean }[] = [];
  const decoder = new SniffingDecoder({
    begin: (protocol) => {
      const one = { protocol, events: [] as FixtureEvent[], over: false };
      seen.push(one);
      return { add: (event) => one.events.push(event), over: () => (one.over = true) };
    },
    onTls: () => {},
  });
  await using relay = await startRelay({
    upstream: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    tap: (event) => {
      if (event.kind !== 'bytes') return undefined;
      // Seven bytes at a time: no border of a read means anything.
      for (let at = 0; at < event.bytes.length; at += 7)
        decoder.bytes(event.from, event.atNs, Buffer.from(event.bytes.subarray(at, at + 7)));
      return undefined;
    },
  });
  const session = connect(`http://${relay.address}`);
  const name = fc.stringMatching(/^x-[a-z0-9-]{1,12}$/);
  const value = fc.oneof(fc.stringMatching(/^[!-~]{1,40}$/), fc.constantFrom('a'.repeat(200), 'AAA', '0', '~~~~~~'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 6 }),
      fc.stringMatching(/^\/[a-z]{1,8}$/),
      async (pairs, path) => {
        const sent = Object.fromEntries(pairs);
        const before = seen.length;
        const stream = session.request({ ':path': path, ...sent });
        stream.resume();
        await once(stream, 'end');
        await once(stream, 'close');
        const [request, ...rest] = seen[before]!.events;
        const own = (event: FixtureEvent | undefined) =>
          event !== undefined && 'headers' in event
            ? Object.fromEntries(event.headers!.filter(([key]) => key.startsWith('x-')))
            : undefined;
        expect(request).toMatchObject({ kind: 'request', path, method: 'GET' });
        expect(own(request)).toEqual(sent);
        const response = rest.find((event) => event.kind === 'response');
        expect(own(response)).toEqual({ ...sent, 'x-path': path });
        expect(seen[before]!.over).toBe(true);
      },
    ),
    { numRuns: 15 },
  );
  session.close();
  server.close();
});
