/** What is replayed and recorded again is what was recorded; plain node:http2, grpc-js and node:net are the clients. */
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { POLICIES } from '#checks/compare/index.ts';
import { judgeRecording } from '#checks/lab/recorded.ts';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { startRelay } from '#wire/relay/index.ts';
import { type Seen, told, watched } from '../decode/testing.ts';
import { parseFixture, readFixture } from '../read.ts';
import type { Fixture } from '../types.ts';
import { grpcFrame } from './grpc-frames.ts';
import type { Played } from './played.ts';
import { startReplayServer } from './serve.ts';

const HEAD = (protocol: string): string =>
  `lockstep-fixture 1\nprotocol "${protocol}"\nrecorded {"at":"2026-12-01T12:00:00.000Z","by":"relay"}\n\n`;

function fixtureOf(protocol: 'grpc' | 'http', lines: readonly string[]): Promise<Fixture> {
  return parseFixture(`${HEAD(protocol)}${lines.join('\n')}\nend ${lines.length}\n`, 'a.fixture');
}

const STREAM = '/inference.GRPCInferenceService/ModelStreamInfer';
const CALL = `0 > request {"path":"${STREAM}","headers":[]}`;
const asks = (id: string, text: string): string =>
  `0 > message {"message":{"model_name":"ensemble","id":"${id}","inputs":[{"name":"text_input","datatype":"BYTES","shape":[1,1],"data":["${text}"]}]}}`;
const OK = '0 < response {"headers":[[":status","200"],["content-type","application/grpc+proto"],["x-a","1"],["x-a","2"]]}';
const says = (ms: number, id: string, text: string): string =>
  `${ms * 1e6} < message {"message":{"infer_response":{"model_name":"ensemble","id":"${id}","outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"data":["${text}"]}]}}}`;

/** Sends these messages over HTTP/2 through a recorder in this process, and gives what it recorded. */
async function overHttp2(address: string, messages: readonly Buffer[], leaveAfter?: number): Promise<Seen> {
  const { decoder, exchanges } = watched();
  await using relay = await startRelay({
    upstream: address,
    tap: (event) => {
      if (event.kind === 'bytes') decoder.bytes(event.from, event.atNs, Buffer.from(event.bytes));
      else if (event.kind === 'end') decoder.end(event.from, event.atNs);
      else if (event.kind === 'reset') decoder.reset(event.from, event.atNs, event.code);
      else if (event.kind === 'closed') decoder.closed(event.atNs);
      return undefined;
    },
  });
  const session = connectHttp2(`http://${relay.address}`);
  session.on('error', () => undefined);
  const stream = session.request({ ':method': 'POST', ':path': STREAM, 'content-type': 'application/grpc', te: 'trailers' });
  stream.on('error', () => undefined);
  let frames = 0;
  stream.on('data', () => {
    if (++frames === leaveAfter) stream.close(8);
  });
  for (const message of messages) stream.write(grpcFrame(message, false));
  if (leaveAfter === undefined) stream.end();
  await new Promise((closed) => stream.once('close', closed));
  session.destroy();
  return pollUntil({ ms: 2000, what: 'the exchange to be recorded', everyMs: 5 }, () =>
    exchanges.find((one) => one.over && one.events.length > 0),
  );
}

const fromServer = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('<'));

function clientMessages(fixture: Fixture): Buffer[] {
  return fixture.events.flatMap((event) => (event.kind === 'message' && event.from === 'client' ? [event.bytes] : []));
}

test.each([
  [
    'messages, an error in the stream and trailers',
    [
      CALL,
      asks('a', 'x'),
      '0 > end {}',
      OK,
      says(1, 'a', '🐈'),
      '2000000 < message {"message":{"error_message":"boom","infer_response":{"id":"a"}}}',
      '3000000 < trailers {"headers":[["grpc-status","0"],["x-late","1"]]}',
    ],
  ],
  [
    'a status without an answer',
    [
      CALL,
      asks('a', 'x'),
      '0 > end {}',
      '0 < trailers {"headers":[[":status","200"],["content-type","application/grpc"],["grpc-status","3"],["grpc-message","no%20such"]]}',
    ],
  ],
  ['a reset in the middle', [CALL, asks('a', 'x'), '0 > end {}', OK, says(1, 'a', 'b'), '2000000 < reset {"code":"INTERNAL_ERROR"}']],
  [
    'half a message, then the end of the connection',
    [
      CALL,
      asks('a', 'x'),
      '0 > end {}',
      OK,
      says(1, 'a', 'b'),
      '3000000 < close {}',
      '3000000 < bytes {"why":"a message that was cut","base64":"AAAAAEAKPg=="}',
    ],
  ],
])('gRPC: %s', async (_, lines) => {
  const fixture = await fixtureOf('grpc', lines);
  await using server = await startReplayServer({ fixtures: [{ name: 'a', fixture }], speed: 1 });
  const seen = await overHttp2(server.grpc!, clientMessages(fixture));
  const expected = told({ protocol: 'grpc', events: [...fixture.events], over: true });
  expect(fromServer(told(seen))).toEqual(fromServer(expected));
  const bytes = (events: Fixture['events']): string[] =>
    events.flatMap((event) => ('bytes' in event && event.from === 'server' ? [event.bytes.toString('hex')] : []));
  expect(bytes(seen.events)).toEqual(bytes(fixture.events));
});

test('two requests on one stream: each in its turn, and those of two recordings beside each other', async () => {
  const both = await fixtureOf('grpc', [
    CALL,
    asks('a', 'x'),
    OK,
    says(1, 'a', '1'),
    asks('b', 'y').replace('0 >', '1000000 >'),
    says(1, 'b', '2'),
    '1000000 > end {}',
    '1000000 < trailers {"headers":[["grpc-status","0"]]}',
  ]);
  const other = await fixtureOf('grpc', [
    CALL,
    asks('c', 'z'),
    '0 > end {}',
    OK,
    says(1, 'c', '3'),
    '1000000 < trailers {"headers":[["grpc-status","0"]]}',
  ]);
  await using server = await startReplayServer({
    fixtures: [
      { name: 'both', fixture: both },
      { name: 'other', fixture: other },
    ],
    speed: Infinity,
  });
  const seen = await overHttp2(server.grpc!, [...clientMessages(both), ...clientMessages(other)]);
  const texts = seen.events.flatMap((event) =>
    event.kind === 'message' && event.from === 'server' ? [event.bytes.toString('latin1').at(-1)] : [],
  );
  expect(texts.toSorted((a, b) => (a! < b! ? -1 : 1))).toEqual(['1', '2', '3']);
  expect(seen.events.at(-1)).toMatchObject({ kind: 'trailers', headers: [['grpc-status', '0']] });
});

test('a client that numbers its requests anew gets its own number; a foreign one stays foreign', async () => {
  const fixture = await fixtureOf('grpc', [
    CALL,
    asks('old', 'x'),
    '0 > end {}',
    OK,
    says(0, 'old', 'b'),
    says(0, 'foreign', 'b'),
    '0 < trailers {"headers":[["grpc-status","0"]]}',
  ]);
  const renamed = await fixtureOf('grpc', [CALL, asks('new-number', 'x')]);
  await using server = await startReplayServer({ fixtures: [{ name: 'a', fixture }], speed: Infinity });
  const seen = await overHttp2(server.grpc!, clientMessages(renamed));
  const wanted = await fixtureOf('grpc', [CALL, says(0, 'new-number', 'b'), says(0, 'foreign', 'b')]);
  expect(
    seen.events.filter(({ kind, from }) => kind === 'message' && from === 'server').map((event) => 'bytes' in event && event.bytes),
  ).toEqual(wanted.events.slice(1).map((event) => 'bytes' in event && event.bytes));
});

test('a request that was not recorded is told which is nearest, and what differs', async () => {
  const fixture = await fixtureOf('grpc', [CALL, asks('a', 'x'), OK]);
  const asked = await fixtureOf('grpc', [CALL, asks('a', '\u202ey')]);
  const played: Played[] = [];
  await using server = await startReplayServer({
    fixtures: [{ name: 'near.fixture', fixture }],
    speed: Infinity,
    onPlayed: (one) => played.push(one),
  });
  const seen = await overHttp2(server.grpc!, clientMessages(asked));
  const text = 'no recording was asked this; nearest is near.fixture: inputs.text_input.data is ["\u202ey"], recorded ["x"]';
  expect(played).toEqual([{ kind: 'missing', text }]);
  expect(seen.events.at(-1)).toMatchObject({
    kind: 'trailers',
    headers: expect.arrayContaining([
      ['grpc-status', '5'],
      ['grpc-message', encodeURIComponent(`lockstep replay: ${text}`)],
    ]),
  });
});

test('a client that leaves early is told of, and one that leaves where the recorded one left is as recorded', async () => {
  const fixture = await fixtureOf('grpc', [
    CALL,
    asks('a', 'x'),
    OK,
    says(0, 'a', '1'),
    says(5, 'a', '2'),
    says(300, 'a', '3'),
    '300000000 > reset {"code":"CANCEL"}',
  ]);
  const played: Played[] = [];
  await using server = await startReplayServer({ fixtures: [{ name: 'a', fixture }], speed: 10, onPlayed: (one) => played.push(one) });
  await overHttp2(server.grpc!, clientMessages(fixture), 2);
  await overHttp2(server.grpc!, clientMessages(fixture), 3);
  await pollUntil({ ms: 2000, what: 'both to be told', everyMs: 5 }, () => (played.length === 2 ? true : undefined));
  expect(played).toEqual([
    { kind: 'left', name: 'a', sent: 2, of: 3 },
    { kind: 'whole', name: 'a' },
  ]);
});

test('pauses are as they were, divided by the speed', async () => {
  const fixture = await fixtureOf('grpc', [
    CALL,
    asks('a', 'x'),
    '0 > end {}',
    OK,
    says(400, 'a', '1'),
    '800000000 < trailers {"headers":[["grpc-status","0"]]}',
  ]);
  await using server = await startReplayServer({ fixtures: [{ name: 'a', fixture }], speed: 8 });
  const startNs = nowNs();
  const { events } = await overHttp2(server.grpc!, clientMessages(fixture));
  const at = (kind: string): number => (events.find((event) => event.kind === kind && event.from === 'server')!.atNs - startNs) / 1e6;
  // Timers are late, and never early.
  expect(at('message')).toBeGreaterThan(49);
  expect(at('trailers')).toBeGreaterThan(99);
  expect(at('trailers')).toBeLessThan(400);
});

/** Everything that a server says on one connection to these bytes. */
async function overTcp(
  address: string,
  sent: string,
  until: (got: string) => boolean,
): Promise<{ readonly got: string; readonly ending: 'open' | 'end' | 'reset' }> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host);
  let got = '';
  let ending: 'open' | 'end' | 'reset' = 'open';
  socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
  socket.on('end', () => (ending = 'end'));
  socket.on('error', () => (ending = 'reset'));
  socket.write(sent, 'latin1');
  await pollUntil({ ms: 3000, what: 'the answer', everyMs: 5 }, () => (until(got) || ending !== 'open' ? true : undefined));
  socket.destroy();
  return { got, ending };
}

const BODY = '{"text_input":"x","max_tokens":3,"id":"old"}';
const post = (body: string): string =>
  `POST /v2/models/ensemble/generate_stream HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const POSTED = [
  '0 > request {"method":"POST","path":"/v2/models/ensemble/generate_stream","headers":[["Host","b"]]}',
  `0 > body ${JSON.stringify({ text: BODY })}`,
  '0 > end {}',
];
const CHUNKED =
  '0 < response {"status":200,"reason":"Fine","headers":[["Content-Type","text/event-stream"],["Transfer-Encoding","chunked"]]}';
const CHUNKED_HEAD = 'HTTP/1.1 200 Fine\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

test.each([
  [
    'chunks with their borders, and trailers',
    [CHUNKED, '0 < chunk {"text":"data: \\udcc3"}', '0 < chunk {"text":"\\udca9\\n\\n"}', '0 < end {"headers":[["X-Sum","1"]]}'],
    `${CHUNKED_HEAD}7\r\ndata: \u00c3\r\n3\r\n\u00a9\n\n\r\n0\r\nX-Sum: 1\r\n\r\n`,
    'open',
  ],
  [
    'a chunk that came in parts',
    [CHUNKED, '0 < chunk {"announced":5,"text":"ab"}', '1000000 < chunk {"more":true,"text":"cde"}', '0 < end {}'],
    `${CHUNKED_HEAD}5\r\nabcde\r\n0\r\n\r\n`,
    'open',
  ],
  [
    'a chunk that was cut, and a reset',
    [CHUNKED, '0 < chunk {"announced":255,"text":"half"}', '30000000 < reset {"code":"ECONNRESET"}'],
    `${CHUNKED_HEAD}ff\r\nhalf`,
    'reset',
  ],
  [
    'garbage, and the end of the connection',
    [CHUNKED, '0 < bytes {"why":"a chunk whose length is no number","text":"zz\\r\\n"}', '0 < close {}'],
    `${CHUNKED_HEAD}zz\r\n`,
    'end',
  ],
  [
    'a body that the end of the connection ends',
    ['0 < response {"status":500,"reason":"","headers":[["x","y"]]}', '0 < body {"text":"{\\"id\\":\\"old\\"}"}', '0 < close {}'],
    'HTTP/1.1 500 \r\nx: y\r\n\r\n{"id":"old"}',
    'end',
  ],
])('HTTP: %s', async (_, answer, expected, ending) => {
  const sorted = answer
    .map((line) => line.replace(/^0 (?=<)/, ''))
    .map((line, i) => (/^\d/.test(line) ? line : `${i * 1_000_000} ${line}`));
  const fixture = await fixtureOf('http', [...POSTED, ...rising(sorted)]);
  await using server = await startReplayServer({ fixtures: [{ name: 'a', fixture }], speed: 1 });
  const seen = await overTcp(server.http!, post(BODY), (got) => got === expected && ending === 'open');
  expect(seen).toEqual({ got: expected, ending });
});

function rising(lines: readonly string[]): string[] {
  let at = 0;
  return lines.map((line) => line.replace(/^\d+/, (digits) => String((at = Math.max(at, Number(digits))))));
}

test('HTTP: requests one after another on one connection, a new number with the length that it makes, and one that nobody recorded', async () => {
  const fixture = await fixtureOf('http', [
    ...POSTED,
    '0 < response {"status":200,"reason":"OK","headers":[["Content-Length","12"]]}',
    '0 < body {"text":"{\\"id\\":\\"old\\"}"}',
    '0 < end {}',
  ]);
  await using server = await startReplayServer({ fixtures: [{ name: 'a', fixture }], speed: Infinity });
  const { got } = await overTcp(server.http!, post(BODY) + post(BODY.replace('old', 'longer')) + post(BODY.replace('3', '4')), (text) =>
    text.includes('recorded 3'),
  );
  const [first, second, third] = got.split(/(?=HTTP\/1\.1 )/);
  expect(first).toBe('HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"id":"old"}');
  expect(second).toBe('HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"id":"longer"}');
  expect(third).toContain('HTTP/1.1 404 Not Found');
  expect(third).toContain('{"error":"lockstep replay: no recording was asked this; nearest is a: max_tokens is 4, recorded 3"}');
});

test('what cannot be replayed says so', async () => {
  const opaque = await parseFixture(`${HEAD('unknown')}0 > bytes {"why":"TLS","text":"x"}\nend 1\n`, 'a');
  await expect(startReplayServer({ fixtures: [{ name: 'a', fixture: opaque }], speed: 1 })).rejects.toThrow('[fixture-not-replayable]');
  await expect(startReplayServer({ fixtures: [], speed: 1 })).rejects.toThrow('[fixture-not-replayable]');
});

test('nothing of a hostile recording reaches a terminal as it is', async () => {
  const folder = join(PACKAGE_ROOT, 'goldens');
  const fixture = await readFixture(join(folder, 'fixtures', 'generate-spaces-lost.fixture'));
  const c = fixture.header.case!;
  const hostile: Fixture = {
    ...fixture,
    header: { ...fixture.header, case: { ...c, request: { ...c.request, id: '../\u001b[2J<b>\u202e' } } },
  };
  const { failures } = await judgeRecording(hostile, 'a', { goldensDir: folder, policy: POLICIES.exact, replay: 'x\u001b[2J' });
  expect(failures.length).toBeGreaterThan(0);
  const { case: view, text, replay } = failures[0]!;
  expect(JSON.stringify([view, text, replay])).not.toMatch(/\\u001b|\u202e/);
  expect(view?.label).toContain('../\\u{1b}[2J<b>');
});
