import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Side } from '../types.ts';
import { told, watched } from './testing.ts';

type Step = readonly [Side, string] | readonly [Side, 'FIN' | 'RST', true];

/** What is told of a connection on which this happened, read as it came. */
function read(...steps: readonly Step[]): { readonly exchanges: string[][]; readonly over: boolean[] } {
  const { decoder, exchanges } = watched();
  for (const [from, text, ending] of steps) {
    if (ending === undefined) decoder.bytes(from, 0, Buffer.from(text, 'latin1'));
    else if (text === 'FIN') decoder.end(from, 0);
    else decoder.reset(from, 0, 'ECONNRESET');
  }
  const over = exchanges.map((one) => one.over);
  decoder.closed(0);
  expect(exchanges.every((one) => one.over)).toBe(true);
  return { exchanges: exchanges.map(told), over };
}

const GET = 'GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

test('requests before the first answer, on a connection that stays: each its own exchange', () => {
  const post = 'POST /v1/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}';
  const { exchanges, over } = read(
    ['client', `${GET}${post}HEAD /x HTTP/1.1\r\n\r\n`],
    ['server', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['server', `${CHUNKED}3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n`],
    ['server', 'HTTP/1.1 404 \r\nContent-Length: 9\r\n\r\n'],
  );
  expect(over).toEqual([true, true, true]);
  expect(exchanges).toEqual([
    ['> request GET /v2', '> end', '< response 100', '< response 200', '< body "hello"', '< end'],
    ['> request POST /v1/completions', '> body "{}"', '> end', '< response 200', '< chunk "abc"', '< chunk "de"', '< end X-Sum: 5'],
    ['> request HEAD /x', '> end', '< response 404', '< end'],
  ]);
});

test('a chunk that comes in parts, and one that is cut', () => {
  const { exchanges } = read(['client', GET], ['server', `${CHUNKED}8\r\nabc`], ['server', 'defgh\r\nff\r\nhalf'], ['server', 'FIN', true]);
  expect(exchanges[0]!.slice(3)).toEqual(['< chunk of 8 "abc"', '< chunk more "defgh"', '< chunk of 255 "half"', '< close']);
});

test.each([
  ['a body that promises more', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"a":1}', ['< response 200', '< body "{\\"a\\":1}"']],
  [
    'a chunk size that is no number',
    `${CHUNKED}zz\r\nrest`,
    ['< response 200', '< bytes (a chunk whose length is no number) "zz\\r\\nrest"'],
  ],
  [
    'a chunk that is too long',
    `${CHUNKED}1\r\nab\r\n`,
    ['< response 200', '< chunk "a"', '< bytes (a chunk that is longer than its length) "b\\r\\n"'],
  ],
  ['a status line that is none', 'HTTP/1.1 huh\r\n\r\n', ['< bytes (a status line that is none) "HTTP/1.1 huh\\r\\n\\r\\n"']],
  ['a head that is cut', 'HTTP/1.1 200 OK\r\nConte', ['< bytes (a head that was cut) "HTTP/1.1 200 OK\\r\\nConte"']],
  [
    'another protocol after an upgrade',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n\u0081\u0000',
    ['< response 101', '< bytes (the bytes of another protocol) "\u0081\\u0000"'],
  ],
])('%s is recorded as it was, up to the reset', (_, answer, expected) => {
  const { exchanges } = read(['client', GET], ['server', answer], ['server', 'RST', true]);
  expect(exchanges[0]!.slice(2)).toEqual([...expected, '< reset ECONNRESET']);
});

test('an answer that the end of the connection ends', () => {
  const { exchanges, over } = read(['client', GET], ['server', 'HTTP/1.0 200 OK\r\n\r\nabc'], ['server', 'd'], ['server', 'FIN', true]);
  expect(exchanges[0]!.slice(2)).toEqual(['< response 200', '< body "abc"', '< body "d"', '< close', '< end']);
  expect(over).toEqual([true]);
});

test('a client that leaves in the middle', () => {
  const { exchanges } = read(['client', GET], ['server', `${CHUNKED}1\r\na\r\n`], ['client', 'FIN', true], ['server', 'RST', true]);
  expect(exchanges[0]!.slice(3)).toEqual(['< chunk "a"', '> close', '< reset ECONNRESET']);
});

test('what answers no request, and what is no HTTP, is an exchange of bytes', () => {
  expect(read(['client', GET], ['server', 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n']).exchanges[1]).toEqual([
    '< bytes (an answer to no request) "HTTP/1.1 200 OK\\r\\n\\r\\n"',
  ]);
  expect(read(['client', '\u0000\u0001'], ['server', 'x'], ['client', 'FIN', true]).exchanges).toEqual([
    ['> bytes (neither HTTP/1.1 nor HTTP/2) "\\u0000\\u0001"', '< bytes (neither HTTP/1.1 nor HTTP/2) "x"', '> close'],
  ]);
  expect(read(['server', '220 mail'], ['client', 'helo']).exchanges).toEqual([
    ['< bytes (neither HTTP/1.1 nor HTTP/2) "220 mail"', '> bytes (neither HTTP/1.1 nor HTTP/2) "helo"'],
  ]);
  expect(read(['server', '220 mail']).exchanges).toEqual([['< bytes (a start that was cut) "220 mail"']]);
});

test('TLS is told, and its bytes are kept', () => {
  const { decoder, exchanges, tls } = watched();
  decoder.bytes('client', 0, Buffer.from('1603010200', 'hex'));
  decoder.closed(0);
  expect(tls()).toBe(true);
  expect(told(exchanges[0]!)).toEqual(['> bytes (TLS) "\\u0016\u0003\\u0001\\u0002\\u0000"'.replace('\u0003', '\\u0003')]);
});

test('wherever reads are cut, the same is told, but for chunks in parts', () => {
  const server = `HTTP/1.1 100 Continue\r\n\r\n${CHUNKED}5\r\nhello\r\na\r\n, world!\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc`;
  const client = `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n${GET}`;
  const bodies = (cuts: readonly number[]) => {
    const { decoder, exchanges } = watched();
    for (const [from, text] of [
      ['client', client],
      ['server', server],
    ] as const) {
      const at = [0, ...cuts.map((cut) => cut % text.length).toSorted((a, b) => a - b), text.length];
      for (let i = 1; i < at.length; i++) decoder.bytes(from, 0, Buffer.from(text.slice(at[i - 1], at[i]), 'latin1'));
    }
    return exchanges.map(({ events, over }) => ({
      over,
      kinds: events.filter(({ kind }) => kind !== 'chunk').map(({ kind }) => kind),
      client: events.map((e) => ('bytes' in e && e.from === 'client' ? e.bytes.toString() : '')).join(''),
      server: events.map((e) => ('bytes' in e && e.from === 'server' ? e.bytes.toString() : '')).join(''),
    }));
  };
  const whole = bodies([]);
  expect(whole.map((one) => one.server)).toEqual(['hello, world!\r\n', 'abc']);
  fc.assert(
    fc.property(fc.array(fc.nat(400), { maxLength: 12 }), (cuts) => {
      expect(bodies(cuts)).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});
