import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { LockstepError } from '#core/errors/index.ts';
import { INFERENCE_SERVICE } from '#wire/protocol/service.ts';
import type { Fixture, FixtureEvent, FixtureHeader, Side } from './index.ts';
import {
  FixtureWriter,
  fixtureFileName,
  fixtureText,
  isFixtureFile,
  messageBytes,
  messageJson,
  messageType,
  openFixture,
  parseFixture,
  readFixture,
  writeFixture,
} from './index.ts';
import { elementBytes, elementValues } from './tensor-values.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockstep-fixtures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEADER: FixtureHeader = { protocol: 'grpc', recorded: { at: '2026-12-01T12:00:00.000Z', by: 'relay', server: '127.0.0.1:8001' } };
const STREAM = '/inference.GRPCInferenceService/ModelStreamInfer';
const request = (path: string, headers: readonly (readonly [string, string])[] = []): FixtureEvent => ({
  kind: 'request',
  from: 'client',
  atNs: 0,
  path,
  headers,
});

/** proto-loader's codec is the independent end. */
const streamed = (message: object): Buffer => INFERENCE_SERVICE['ModelStreamInfer']!.responseSerialize(message);

const code = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
  } catch (thrown) {
    return (thrown as LockstepError).code;
  }
  return 'no error';
};

test('a stream of tensors reads like this, to the byte', () => {
  const events: FixtureEvent[] = [
    request(STREAM, [['user-agent', 'grpc-python/1.62.1']]),
    {
      kind: 'message',
      from: 'server',
      atNs: 1_500_000,
      bytes: streamed({
        infer_response: {
          model_name: 'ensemble',
          id: 'a',
          parameters: { triton_final_response: { bool_param: false } },
          outputs: [
            { name: 'text_output', datatype: 'BYTES', shape: [1] },
            { name: 'cum_log_probs', datatype: 'FP32', shape: [1, 1] },
          ],
          raw_output_contents: [Buffer.from('\u0002\0\0\0é', 'utf8'), Buffer.from('cdcccc3d', 'hex')],
        },
      }),
    },
    { kind: 'message', from: 'server', atNs: 1_600_000, bytes: streamed({ error_message: '\u001b[2Jboom' }) },
    { kind: 'trailers', from: 'server', atNs: 1_700_000, headers: [['grpc-status', '0']] },
  ];
  expect(fixtureText({ header: HEADER, events })).toBe(
    [
      'lockstep-fixture 1',
      'protocol "grpc"',
      'recorded {"at":"2026-12-01T12:00:00.000Z","by":"relay","server":"127.0.0.1:8001"}',
      '',
      `0 > request {"path":"${STREAM}","headers":[["user-agent","grpc-python/1.62.1"]]}`,
      '1500000 < message {"message":{"infer_response":{"model_name":"ensemble","id":"a","parameters":{"triton_final_response":{"bool_param":false}},"outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"data":["é"]},{"name":"cum_log_probs","datatype":"FP32","shape":[1,1],"data":[0.1]}]}}}',
      '1600000 < message {"message":{"error_message":"\\u001b[2Jboom"}}',
      '1700000 < trailers {"headers":[["grpc-status","0"]]}',
      'end 4',
      '',
    ].join('\n'),
  );
});

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('\u009b31m', '\u202e', '__proto__', '../../etc', '\n', '\ud800'),
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
  text.map((one) => Buffer.from(`data: ${one}\n\n`, 'utf8').subarray(0, 40)),
);
const headers = fc.array(fc.tuple(text, text), { maxLength: 3 });
const side = fc.constantFrom<Side>('client', 'server');
const TYPES: Readonly<Record<string, number>> = {
  INT32: 4,
  FP32: 4,
  FP16: 2,
  BF16: 2,
  FP64: 8,
  UINT64: 8,
  INT64: 8,
  BOOL: 1,
  BYTES: 1,
  NONE: 3,
};
const message = fc
  .record({
    id: text,
    error: text,
    type: fc.constantFrom(...Object.keys(TYPES)),
    data: fc.uint8Array({ maxLength: 24 }),
    key: text,
    wild: fc.boolean(),
  })
  .map(({ id, error, type, data, key, wild }) =>
    wild
      ? Buffer.from(data)
      : streamed({
          error_message: error,
          infer_response: {
            id,
            parameters: { [key]: { double_param: -0 }, 7: { int64_param: '-9223372036854775808' } },
            outputs: [{ name: 't', datatype: type, shape: [data.length] }],
            raw_output_contents: [Buffer.from(data)],
          },
        }),
  );
const event = (atNs: number): fc.Arbitrary<FixtureEvent> =>
  fc.oneof(
    headers.map((h): FixtureEvent => ({ kind: 'response', from: 'server', atNs, status: 200, reason: 'OK', headers: h })),
    fc.tuple(side, message).map(([from, b]): FixtureEvent => ({ kind: 'message', from, atNs, bytes: b })),
    fc.tuple(side, bytes).map(([from, b]): FixtureEvent => ({ kind: 'chunk', from, atNs, bytes: b, announced: 99 })),
    fc.tuple(side, bytes).map(([from, b]): FixtureEvent => ({ kind: 'chunk', from, atNs, bytes: b, more: true })),
    fc.tuple(side, bytes).map(([from, b]): FixtureEvent => ({ kind: 'body', from, atNs, bytes: b })),
    fc.tuple(side, bytes, text).map(([from, b, why]): FixtureEvent => ({ kind: 'bytes', from, atNs, bytes: b, why })),
    fc.tuple(side, text).map(([from, t]): FixtureEvent => ({ kind: 'reset', from, atNs, code: t })),
    fc.tuple(side, text).map(([from, t]): FixtureEvent => ({ kind: 'goaway', from, atNs, code: 'NO_ERROR', text: t })),
    side.map((from): FixtureEvent => ({ kind: 'close', from, atNs })),
    headers.map((h): FixtureEvent => ({ kind: 'trailers', from: 'server', atNs, headers: h })),
  );
const heads = fc.oneof(
  fc.tuple(text, headers).map(([path, h]) => request(path, h)),
  fc.constant(request(STREAM)),
  fc.constant(request('/v2/models/m/infer', [['Inference-Header-Content-Length', '9']])),
);

test('every exchange reads back as it was, to the byte, and is written the same again', async () => {
  const exchange = fc
    .tuple(
      heads,
      fc.array(fc.nat(1e9), { maxLength: 6 }).map((times) => times.toSorted((a, b) => a - b)),
    )
    .chain(([head, times]) =>
      fc.tuple(...times.map(event)).map((rest): Fixture => ({ header: { ...HEADER, note: '\u009b' }, events: [head, ...rest] })),
    );
  await fc.assert(
    fc.asyncProperty(exchange, async (fixture) => {
      const written = fixtureText(fixture);
      // What a terminal would obey is not in the file.
      expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202a-\u202e\u2066-\u2069]/u);
      const read = await parseFixture(written, 'x');
      expect(read).toEqual(fixture);
      expect(fixtureText(read)).toBe(written);
    }),
    { numRuns: 40 },
  );
});

test('elements are those of the formats: IEEE 754, bfloat16, little-endian', () => {
  const values = (type: string, hex: string) => elementValues(type, Buffer.from(hex, 'hex'));
  expect(values('FP32', 'cdcccc3d0000807f0000008001000000')).toEqual([0.1, 'Infinity', '-0', 1e-45]);
  expect(values('FP16', '55350100ff7b')).toEqual([0.3333, 6e-8, 65504]);
  expect(values('BF16', 'cd3d803f')).toEqual([0.1, 1]);
  expect(values('INT64', 'ffffffffffffffff000000000000e07f')).toEqual([-1, '9214364837600034816']);
  expect(values('BYTES', '0200000061ff')).toEqual(['a\udcff']);
  expect(values('INT32', '010203')).toBeUndefined();
  // Every fifth pattern of sixteen bits.
  const PATTERNS = 13_108;
  for (const type of ['FP16', 'BF16']) {
    const all = Buffer.from(Uint16Array.from({ length: PATTERNS }, (_, i) => i * 5).buffer);
    const back = elementBytes(type, elementValues(type, all)!)!;
    // Of the many NaNs one is left; a message with another keeps its bytes.
    const wrong = Array.from({ length: PATTERNS }, (_, i) => i).filter(
      (i) => back.readUInt16LE(2 * i) !== i * 5 && elementValues(type, all.subarray(2 * i, 2 * i + 2))![0] !== 'NaN',
    );
    expect(wrong).toEqual([]);
  }
});

test('a file that is cut anywhere says so, or what is wrong with it, and never reads as whole', async () => {
  const whole = fixtureText({ header: HEADER, events: [request(STREAM), { kind: 'close', from: 'client', atNs: 5 }] });
  const seen = new Set<string>();
  for (let length = 0; length < whole.length; length += 3) seen.add(await code(() => parseFixture(whole.slice(0, length), 'x')));
  expect([...seen].toSorted()).toEqual(['fixture-not-one', 'fixture-truncated']);
});

test.each([
  ['a newer version', (t: string) => t.replace('fixture 1', 'fixture 2'), 'fixture-version'],
  ['some other file', () => '{"a":1}\n', 'fixture-not-one'],
  ['a field of the head that nobody knows', (t: string) => t.replace('\n\n', '\nshell "rm"\n\n'), 'fixture-malformed'],
  ['an event of another kind', (t: string) => t.replace('> request', '> exec'), 'fixture-malformed'],
  ['a message from the wrong side', (t: string) => t.replace('> request', '< request'), 'fixture-malformed'],
  ['a field that nobody knows', (t: string) => t.replace('"headers":[]', '"headers":[],"x":1'), 'fixture-malformed'],
  ['an event that is gone', (t: string) => t.replace(/\n5 .*\n/, '\n'), 'fixture-malformed'],
  ['time that runs backwards', (t: string) => t.replace('\n0 >', '\n6 >'), 'fixture-malformed'],
  ['something after its end', (t: string) => `${t}5 > close {}\n`, 'fixture-malformed'],
  ['bytes that are no UTF-8', (t: string) => Buffer.from(t.replace('ModelStream', 'Model\u00ff'), 'latin1'), 'fixture-malformed'],
])('%s is refused by its own code', async (_, spoil, expected) => {
  const whole = fixtureText({ header: HEADER, events: [request(STREAM), { kind: 'close', from: 'client', atNs: 5 }] });
  expect(await code(() => parseFixture(spoil(whole), 'x'))).toBe(expected);
});

test('a message edited by hand is sent as it was edited', async () => {
  const bytes = INFERENCE_SERVICE['ModelStreamInfer']!.requestSerialize({
    model_name: 'ensemble',
    inputs: [{ name: 'max_tokens', datatype: 'INT32', shape: [1, 1] }],
    raw_input_contents: [Buffer.from('08000000', 'hex')],
  });
  const written = fixtureText({ header: HEADER, events: [request(STREAM), { kind: 'message', from: 'client', atNs: 1, bytes }] });
  const { events } = await parseFixture(written.replace('"data":[8]', '"data":[3]'), 'x');
  const sent = INFERENCE_SERVICE['ModelStreamInfer']!.requestDeserialize((events[1] as { bytes: Buffer }).bytes) as {
    raw_input_contents: Buffer[];
  };
  expect(sent.raw_input_contents[0]!.toString('hex')).toBe('03000000');
});

test('what a killed recorder leaves says so, and a large exchange is compressed when it ends', async () => {
  const writer = new FixtureWriter(folder, 'big.fixture', { ...HEADER, protocol: 'http' });
  writer.append({ kind: 'request', from: 'client', atNs: 0, method: 'GET', path: '/', headers: [] });
  writer.flush();
  expect(await code(() => readFixture(join(folder, 'big.fixture.part')))).toBe('fixture-truncated');
  const chunk = Buffer.alloc(50_000, 'lockstep ');
  for (let i = 1; i <= 100; i++) writer.append({ kind: 'chunk', from: 'server', atNs: i, bytes: chunk });
  const path = await writer.finish();
  expect(path).toBe(join(folder, 'big.fixture.zst'));
  expect(readdirSync(folder)).toEqual(['big.fixture.zst']);
  const { events } = await readFixture(path);
  expect(events).toHaveLength(101);
  expect((events[100] as { bytes: Buffer }).bytes.equals(chunk)).toBe(true);
  const compressed = readFileSync(path);
  compressed[compressed.length - 20]! ^= 1;
  writeFileSync(path, compressed);
  expect(await code(() => readFixture(path))).toBe('fixture-malformed');
  truncateSync(path, compressed.length >> 1);
  expect(await code(() => readFixture(path))).toBe('fixture-malformed');
});

test('a fixture that is closed early keeps no file open', async () => {
  const path = join(folder, 'one.fixture');
  writeFixture(path, { header: HEADER, events: [request(STREAM)] });
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let i = 0; i < 20; i++) {
    await using fixture = await openFixture(path);
    expect((await fixture.events.next()).value).toMatchObject({ kind: 'request' });
  }
  await expect.poll(open).toBeLessThan(before + 10);
});

test('the file that docs/fixtures.md shows is one', async () => {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs/fixtures.md'), 'utf8');
  const [, shown = ''] = /```\n(lockstep-fixture[^]*?)```/.exec(page) ?? [];
  expect(fixtureText(await parseFixture(shown, 'docs/fixtures.md'))).toBe(shown);
});

test('names of files have nothing of what was asked but letters', () => {
  expect(fixtureFileName('../../etc/passwd', 'raw\u001b[2J', '.hidden')).toBe('etc-passwd-raw-2J-hidden.fixture');
  expect(fixtureFileName('', '..')).toBe('exchange.fixture');
  expect(fixtureFileName('x'.repeat(500)).length).toBeLessThan(120);
  expect(['a.fixture', 'a.fixture.zst', 'a.fixture.part', 'a.json'].map(isFixtureFile)).toEqual([true, true, false, false]);
});

test("messages of RPCs that are not Triton's are none", () => {
  const type = messageType('/inference.GRPCInferenceService/ModelReady', 'server')!;
  expect(messageJson(type, messageBytes(type, { ready: true }))).toEqual({ ready: true });
  for (const path of ['/inference.GRPCInferenceService/toString', '/__proto__/x', '/inference.ModelConfig/x', 'x'])
    expect(messageType(path, 'client')).toBeUndefined();
});
