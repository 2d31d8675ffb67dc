import { bytesTensor, fp32Tensor, int32Tensor, int64Tensor, type Tensor } from '#wire/protocol/tensors.ts';
import type { Area, Ask, Probe, Reading } from '../types.ts';
import { ASKS_FOR_END, grpc, infer, inferMessage, post, stream } from './build.ts';

const X = (values: readonly number[] = [5, 6], shape: readonly number[] = [1, 2]) => int32Tensor('X', shape, values);
const bytesOf = (tensor: Tensor, length: number): Tensor => ({
  ...tensor,
  data: Buffer.concat([tensor.data, Buffer.alloc(64)]).subarray(0, length),
});
const strings = (name: string, values: readonly string[], shape: readonly number[] = [values.length]) => bytesTensor(name, shape, values);
const json = (name: string, datatype: string, shape: readonly number[], data: readonly unknown[]) => ({ name, datatype, shape, data });
/** Says ten bytes and has three. */
const TRUNCATED: Tensor = { name: 'A', datatype: 'BYTES', shape: [1], data: Uint8Array.of(10, 0, 0, 0, 97, 98, 99) };

const ECHO = '/v2/models/edge_echo/infer';
const good = json('X', 'INT32', [1, 2], [5, 6]);

function rows(
  model: string,
  area: Area,
  of: readonly (readonly [id: string, ask: Ask, read?: Reading, more?: Partial<Probe>])[],
): readonly Probe[] {
  return of.map(([id, ask, read = 'text', more = {}]) => ({ id: `${model}/${id}`, area, ask, read, needs: [model], ...more }));
}

const script = (...steps: readonly object[]) => JSON.stringify(steps);
const play = (steps: readonly object[], asksForEnd = true) => ({
  model: 'edge_script',
  id: 'q',
  inputs: [bytesTensor('SCRIPT', [1], [JSON.stringify(steps)])],
  ...(asksForEnd ? { parameters: ASKS_FOR_END } : {}),
});
const act = (what: string, parameters: Readonly<Record<string, unknown>> = {}) => ({
  model: 'edge_acts',
  inputs: [bytesTensor('ACT', [1], [what])],
  parameters,
});
const actJson = (what: string, more: object = {}) => ({ ...more, inputs: [json('ACT', 'BYTES', [1], [what])] });

const RESPONSES: Readonly<Record<string, readonly object[]>> = {
  'final-on-last': [{ text: 'a' }, { text: 'b', final: true }],
  'flag-alone': [{ text: 'a' }, { final: true }],
  nothing: [{ final: true }],
  'error-first': [{ error: 'boom', final: true }],
  'error-in-the-middle': [{ text: 'a' }, { error: 'boom' }, { text: 'b', final: true }],
  'text-and-error': [{ text: 'a', error: 'boom', final: true }],
  'behind-final': [{ text: 'a', final: true }, { text: 'b' }],
};
const SCRIPT = '/v2/models/edge_script';
const sequence = (id: object, start: boolean) => ({
  model: 'edge_sequence',
  inputs: [int32Tensor('X', [1, 1], [1])],
  parameters: { sequence_id: id, sequence_end: { bool_param: true }, ...(start ? { sequence_start: { bool_param: true } } : {}) },
});

/** How a server takes what is wrong, and what it tells models and clients: asked of docker/contract/models. */
export const EDGE_PROBES: readonly Probe[] = [
  ...rows('edge_echo', 'grpc', [
    ['grpc/right', infer({ model: 'edge_echo', id: 'q', inputs: [X()] })],
    ['grpc/batch-of-two', infer({ model: 'edge_echo', inputs: [X([1, 2, 3, 4], [2, 2])] })],
    [
      'grpc/too-large-batch',
      infer({
        model: 'edge_echo',
        inputs: [
          X(
            Array.from({ length: 18 }, (_, i) => i),
            [9, 2],
          ),
        ],
      }),
    ],
    ['grpc/empty-batch', infer({ model: 'edge_echo', inputs: [X([], [0, 2])] })],
    ['grpc/empty-batch-with-data', infer({ model: 'edge_echo', inputs: [X([1, 2], [0, 2])] })],
    ['grpc/wrong-shape', infer({ model: 'edge_echo', inputs: [X([1, 2, 3], [1, 3])] })],
    ['grpc/no-batch-dimension', infer({ model: 'edge_echo', inputs: [X([1, 2], [2])] })],
    ['grpc/negative-shape', infer({ model: 'edge_echo', inputs: [X([1, 2], [1, -2])] })],
    ['grpc/wrong-type', infer({ model: 'edge_echo', inputs: [fp32Tensor('X', [1, 2], [1, 2])] })],
    ['grpc/wrong-type-of-other-size', infer({ model: 'edge_echo', inputs: [int64Tensor('X', [1, 2], [1n, 2n])] })],
    [
      'grpc/unknown-type',
      grpc('ModelInfer', {
        ...inferMessage({ model: 'edge_echo', inputs: [X()] }),
        inputs: [{ name: 'X', datatype: 'NOPE', shape: [1, 2] }],
      }),
    ],
    ['grpc/no-inputs', infer({ model: 'edge_echo', inputs: [] })],
    ['grpc/unknown-input', infer({ model: 'edge_echo', inputs: [int32Tensor('ZZ', [1, 2], [1, 2])] })],
    ['grpc/input-too-many', infer({ model: 'edge_echo', inputs: [X(), int32Tensor('ZZ', [1, 2], [1, 2])] })],
    ['grpc/input-twice', infer({ model: 'edge_echo', inputs: [X(), X()] })],
    ['grpc/unknown-output', infer({ model: 'edge_echo', inputs: [X()], outputs: ['QQ'] })],
    ['grpc/output-twice', infer({ model: 'edge_echo', inputs: [X()], outputs: ['Y', 'Y'] })],
    ['grpc/short-data', infer({ model: 'edge_echo', inputs: [bytesOf(X(), 4)] })],
    ['grpc/long-data', infer({ model: 'edge_echo', inputs: [bytesOf(X(), 12)] })],
    ['grpc/no-data', grpc('ModelInfer', { ...inferMessage({ model: 'edge_echo', inputs: [X()] }), raw_input_contents: [] })],
    [
      'grpc/data-too-many',
      grpc('ModelInfer', { ...inferMessage({ model: 'edge_echo', inputs: [X()] }), raw_input_contents: [X().data, X().data] }),
    ],
    [
      'grpc/typed-contents',
      grpc('ModelInfer', {
        model_name: 'edge_echo',
        inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], contents: { int_contents: [5, 6] } }],
      }),
    ],
    [
      'grpc/typed-contents-short',
      grpc('ModelInfer', {
        model_name: 'edge_echo',
        inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], contents: { int_contents: [5] } }],
      }),
    ],
    [
      'grpc/wrong-typed-contents',
      grpc('ModelInfer', {
        model_name: 'edge_echo',
        inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], contents: { int64_contents: [5, 6] } }],
      }),
    ],
    [
      'grpc/typed-and-raw',
      grpc('ModelInfer', {
        model_name: 'edge_echo',
        inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], contents: { int_contents: [5, 6] } }],
        raw_input_contents: [X().data],
      }),
    ],
    ['grpc/unknown-version', infer({ model: 'edge_echo', version: '7', inputs: [X()] })],
    ['grpc/version-that-is-no-number', infer({ model: 'edge_echo', version: 'abc', inputs: [X()] })],
    ['grpc/reserved-parameter', infer({ model: 'edge_echo', inputs: [X()], parameters: { triton_x: { int64_param: 1 } } })],
    ['grpc/unknown-parameter', infer({ model: 'edge_echo', inputs: [X()], parameters: { nope: { string_param: 'a' } } })],
    ['grpc/unsigned-priority', infer({ model: 'edge_echo', inputs: [X()], parameters: { priority: { uint64_param: 1 } } })],
    ['grpc/text-for-priority', infer({ model: 'edge_echo', inputs: [X()], parameters: { priority: { string_param: 'high' } } })],
    ['grpc/text-for-timeout', infer({ model: 'edge_echo', inputs: [X()], parameters: { timeout: { string_param: 'soon' } } })],
    ['grpc/sequence-id-without-sequences', infer({ model: 'edge_echo', inputs: [X()], parameters: { sequence_id: { int64_param: 5 } } })],
    [
      'grpc/text-sequence-id-without-sequences',
      infer({ model: 'edge_echo', inputs: [X()], parameters: { sequence_id: { string_param: 'five' } } }),
    ],
    [
      'grpc/unknown-region',
      grpc('ModelInfer', {
        model_name: 'edge_echo',
        inputs: [
          {
            name: 'X',
            datatype: 'INT32',
            shape: [1, 2],
            parameters: { shared_memory_region: { string_param: 'nope' }, shared_memory_byte_size: { int64_param: 8 } },
          },
        ],
      }),
    ],
  ]),
  ...rows('edge_echo', 'stream', [
    ['stream/not-decoupled', stream({ model: 'edge_echo', id: 'q', inputs: [X()], parameters: ASKS_FOR_END })],
    ['stream/refused-then-right', stream({ model: 'edge_echo', id: 'a', inputs: [] }, { model: 'edge_echo', id: 'b', inputs: [X()] })],
    ['stream/reserved-parameter', stream({ model: 'edge_echo', id: 'q', inputs: [X()], parameters: { triton_x: { int64_param: 1 } } })],
    [
      'stream/empty-final-as-text',
      stream({ model: 'edge_echo', id: 'q', inputs: [X()], parameters: { triton_enable_empty_final_response: { string_param: 'true' } } }),
    ],
  ]),
  ...rows('edge_echo', 'http', [
    ['http/right', post(ECHO, { id: 'q', inputs: [good] })],
    ['http/wrong-method', { via: 'http', method: 'GET', path: ECHO }],
    ['http/broken-json', post(ECHO, '{"a"')],
    ['http/empty-body', post(ECHO, '')],
    ['http/no-inputs', post(ECHO, {})],
    ['http/inputs-not-a-list', post(ECHO, { inputs: 5 })],
    ['http/input-without-name', post(ECHO, { inputs: [{ datatype: 'INT32', shape: [1, 2], data: [5, 6] }] })],
    ['http/input-without-type', post(ECHO, { inputs: [{ name: 'X', shape: [1, 2], data: [5, 6] }] })],
    ['http/input-without-shape', post(ECHO, { inputs: [{ name: 'X', datatype: 'INT32', data: [5, 6] }] })],
    ['http/input-without-data', post(ECHO, { inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2] }] })],
    ['http/data-too-short', post(ECHO, { inputs: [json('X', 'INT32', [1, 2], [5])] })],
    ['http/data-too-long', post(ECHO, { inputs: [json('X', 'INT32', [1, 2], [5, 6, 7])] })],
    ['http/text-for-number', post(ECHO, { inputs: [json('X', 'INT32', [1, 2], ['a', 'b'])] })],
    ['http/fraction-for-number', post(ECHO, { inputs: [json('X', 'INT32', [1, 2], [1.5, 2])] })],
    ['http/number-out-of-range', post(ECHO, { inputs: [json('X', 'INT32', [1, 2], [3_000_000_000, 2])] })],
    ['http/wrong-type', post(ECHO, { inputs: [json('X', 'FP32', [1, 2], [1, 2])] })],
    ['http/unknown-type', post(ECHO, { inputs: [json('X', 'NOPE', [1, 2], [1, 2])] })],
    ['http/wrong-shape', post(ECHO, { inputs: [json('X', 'INT32', [1, 3], [1, 2, 3])] })],
    ['http/unknown-input', post(ECHO, { inputs: [json('ZZ', 'INT32', [1, 2], [1, 2])] })],
    ['http/unknown-output', post(ECHO, { inputs: [good], outputs: [{ name: 'QQ' }] })],
    ['http/reserved-parameter', post(ECHO, { inputs: [good], parameters: { triton_x: 1 } })],
    ['http/list-as-parameter', post(ECHO, { inputs: [good], parameters: { nope: [1] } })],
    ['http/unknown-encoding', post(ECHO, { inputs: [good] }, { 'content-encoding': 'nope' })],
    ['http/header-length-out-of-range', post(ECHO, '{}', { 'inference-header-content-length': '500' })],
    ['http/header-length-no-number', post(ECHO, '{}', { 'inference-header-content-length': 'x' })],
    ['http/binary-short', { via: 'http', method: 'POST', path: ECHO, headers: binaryHeaders(4), body: binaryBody(4) }],
    ['http/binary-long', { via: 'http', method: 'POST', path: ECHO, headers: binaryHeaders(12), body: binaryBody(12) }],
    ['http/binary-answer', post(ECHO, { inputs: [good], outputs: [{ name: 'Y', parameters: { binary_data: true } }] }), 'text'],
    ['http/unknown-version', post('/v2/models/edge_echo/versions/7/infer', { inputs: [good] })],
    ['http/unknown-verb', post('/v2/models/edge_echo/nope', {})],
    [
      'http/unknown-region',
      post(ECHO, {
        inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], parameters: { shared_memory_region: 'nope', shared_memory_byte_size: 8 } }],
      }),
    ],
  ]),
  ...rows('edge_echo', 'generate', [
    ['generate/flat-list-for-a-batching-model', post('/v2/models/edge_echo/generate', { X: [5, 6] })],
    ['generate/nested-list', post('/v2/models/edge_echo/generate', { X: [[5, 6]] })],
  ]),
  ...rows('edge_texts', 'grpc', [
    ['grpc/right', infer({ model: 'edge_texts', inputs: [strings('A', ['a', 'b']), strings('B', ['c'])] })],
    ['grpc/missing-input', infer({ model: 'edge_texts', inputs: [strings('A', ['a'])] })],
    ['grpc/optional-in-place-of-required', infer({ model: 'edge_texts', inputs: [strings('A', ['a']), int32Tensor('C', [1], [1])] })],
    ['grpc/too-few-strings', infer({ model: 'edge_texts', inputs: [strings('A', ['a'], [2]), strings('B', ['c'])] })],
    ['grpc/too-many-strings', infer({ model: 'edge_texts', inputs: [strings('A', ['a', 'b', 'c'], [2]), strings('B', ['c'])] })],
    ['grpc/no-strings', infer({ model: 'edge_texts', inputs: [strings('A', [], [0]), strings('B', ['c'])] })],
  ]),
  ...rows('edge_texts', 'http', [
    ['http/right', post('/v2/models/edge_texts/infer', { inputs: [json('A', 'BYTES', [2], ['a', 'b']), json('B', 'BYTES', [1], ['c'])] })],
    ['http/missing-input', post('/v2/models/edge_texts/infer', { inputs: [json('A', 'BYTES', [1], ['a'])] })],
    [
      'http/number-for-text',
      post('/v2/models/edge_texts/infer', { inputs: [json('A', 'BYTES', [1], [5]), json('B', 'BYTES', [1], ['c'])] }),
    ],
  ]),
  ...rows('edge_acts', 'models', [
    ['what-a-model-has', infer(act('list'))],
    ['timeout', infer(act('timeout', { timeout: { int64_param: 5_000_000 } }))],
    ['parameters', infer(act('parameters', { a: { string_param: 'b' } }))],
    ['parameters-fraction', infer(act('parameters', { f: { double_param: 1.5 } }))],
  ]),
  ...rows('edge_acts', 'grpc', [
    ['grpc/raise', infer(act('raise'))],
    ['grpc/raise-with-id', infer({ ...act('raise'), id: 'q' })],
    ['grpc/refuse', infer(act('refuse'))],
  ]),
  ...rows('edge_acts', 'http', [
    ['http/raise', post('/v2/models/edge_acts/infer', actJson('raise'))],
    ['http/refuse', post('/v2/models/edge_acts/infer', actJson('refuse'))],
  ]),
  ...rows('edge_acts', 'generate', [
    ['generate/right', post('/v2/models/edge_acts/generate', { ACT: 'timeout' })],
    ['generate/raise', post('/v2/models/edge_acts/generate', { ACT: 'raise' })],
    ['generate/raise-in-a-stream', post('/v2/models/edge_acts/generate_stream', { ACT: 'raise' })],
    ['generate/id', post('/v2/models/edge_acts/generate', { ACT: 'timeout', id: 'gid' })],
    ['generate/unknown-key', post('/v2/models/edge_acts/generate', { ACT: 'parameters', nope: 'a' })],
    ['generate/reserved-key', post('/v2/models/edge_acts/generate', { ACT: 'parameters', triton_x: 1 })],
    ['generate/object-as-parameter', post('/v2/models/edge_acts/generate', { ACT: 'parameters', nope: { a: 1 } })],
    ['generate/parameters', post('/v2/models/edge_acts/generate', { ACT: 'parameters', parameters: { nope: 'a' } })],
    ['generate/number-for-text', post('/v2/models/edge_acts/generate', { ACT: 5 })],
    ['generate/list-for-one', post('/v2/models/edge_acts/generate', { ACT: ['timeout', 'list'] })],
    ['generate/empty-list', post('/v2/models/edge_acts/generate', { ACT: [] })],
    ['generate/missing-input', post('/v2/models/edge_acts/generate', {})],
    ['generate/broken-json', post('/v2/models/edge_acts/generate', '{"a"')],
    ['generate/empty-body', post('/v2/models/edge_acts/generate', '')],
    ['generate/wrong-method', { via: 'http', method: 'GET', path: '/v2/models/edge_acts/generate' }],
  ]),
  ...Object.entries(RESPONSES).flatMap(([name, steps]) => [
    ...rows('edge_script', 'stream', [
      [`stream/${name}`, stream(play(steps))],
      [`stream/${name}-without-the-end-flag`, stream(play(steps, false))],
    ]),
    ...rows('edge_script', 'generate', [
      [`generate/${name}`, post(`${SCRIPT}/generate`, { SCRIPT: script(...steps) })],
      [`generate_stream/${name}`, post(`${SCRIPT}/generate_stream`, { SCRIPT: script(...steps) })],
    ]),
  ]),
  ...rows('edge_script', 'grpc', [['grpc/infer-on-a-decoupled-model', infer(play([{ text: 'a', final: true }]))]]),
  ...rows('edge_script', 'http', [
    ['http/infer-on-a-decoupled-model', post(`${SCRIPT}/infer`, { inputs: [json('SCRIPT', 'BYTES', [1], ['[]'])] })],
  ]),
  ...rows('edge_sequence', 'grpc', [
    ['grpc/no-id', infer({ model: 'edge_sequence', inputs: [int32Tensor('X', [1, 1], [1])] })],
    ['grpc/no-start', infer(sequence({ int64_param: 77 }, false))],
    ['grpc/start', infer(sequence({ int64_param: 5 }, true))],
    ['grpc/text-id', infer(sequence({ string_param: 'five' }, true))],
  ]),
  ...rows('edge_echo', 'http', [
    [
      'http/region-and-offset-outside-it',
      post(ECHO, {
        inputs: [
          {
            name: 'X',
            datatype: 'INT32',
            shape: [1, 2],
            parameters: { shared_memory_region: 'edge', shared_memory_offset: 100_000, shared_memory_byte_size: 8 },
          },
        ],
      }),
      'text',
      { sharedMemory: true },
    ],
    [
      'http/region',
      post(ECHO, {
        inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], parameters: { shared_memory_region: 'edge', shared_memory_byte_size: 8 } }],
      }),
      'text',
      { sharedMemory: true },
    ],
    [
      'http/region-twice',
      post('/v2/systemsharedmemory/region/edge/register', { key: '/nope', offset: 0, byte_size: 64 }),
      'text',
      { sharedMemory: true },
    ],
  ]),
  // Behind everything else: releases were seen to hang or to die of these.
  ...rows('edge_script', 'stream', [
    [
      'stream/triton-grpc-error',
      { ...stream(play([{ text: 'a' }, { error: 'boom', final: true }])), metadata: { triton_grpc_error: 'true' } } as Ask,
      'text',
      { changes: true },
    ],
  ]),
  ...rows('edge_fragile', 'grpc', [
    ['grpc/truncated-string', infer({ model: 'edge_fragile', inputs: [TRUNCATED] }), 'text', { changes: true }],
    ['grpc/after-a-truncated-string', infer({ model: 'edge_fragile', inputs: [strings('A', ['a'])] }), 'text', { changes: true }],
  ]),
];

function binaryBody(bytes: number): Uint8Array {
  return Buffer.concat([Buffer.from(binaryHeader(bytes)), Buffer.alloc(bytes, 1)]);
}

function binaryHeader(bytes: number): string {
  return JSON.stringify({ inputs: [{ name: 'X', datatype: 'INT32', shape: [1, 2], parameters: { binary_data_size: bytes } }] });
}

function binaryHeaders(bytes: number): Readonly<Record<string, string>> {
  return { 'content-type': 'application/octet-stream', 'inference-header-content-length': String(binaryHeader(bytes).length) };
}
