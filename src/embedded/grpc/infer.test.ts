import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesTensor, fp32Tensor, int32Tensor, type Tensor } from '#wire/protocol/tensors.ts';
import { ensemble, GrpcLab, type Infer, inferMessage, postprocessing, preprocessing, raw, valuesOf } from './testing.ts';

let lab: GrpcLab;
beforeAll(async () => {
  lab = await GrpcLab.start();
});
afterAll(() => lab[Symbol.asyncDispose]());

async function infer(request: Infer): Promise<any> {
  const reply = await lab.call('ModelInfer', inferMessage(request));
  if (reply.code !== undefined) return reply;
  return Object.fromEntries(
    reply.outputs.map((o: any, i: number) => [o.name, [o.datatype, o.shape.join(), valuesOf(o.datatype, reply.raw_output_contents[i])]]),
  );
}

const words = (name: string, list: readonly (string | Uint8Array)[], shape = [1, list.length]) => bytesTensor(name, shape, list);

describe('preprocessing', () => {
  test('one prompt', async () => {
    expect(await infer(preprocessing(['hi']))).toMatchObject({
      INPUT_ID: ['INT32', expect.stringMatching(/^1,/), expect.arrayContaining([0])],
      DECODER_INPUT_ID: ['INT32', '1,1', [2]],
      REQUEST_DECODER_INPUT_LEN: ['INT32', '1,1', [1]],
      BAD_WORDS_IDS: ['INT32', '1,2,0', []],
      STOP_WORDS_IDS: ['INT32', '1,2,0', []],
      EMBEDDING_BIAS: ['FP32', '1,0', []],
      REQUEST_OUTPUT_LEN: ['INT32', '1,1', [7]],
      OUT_END_ID: ['INT32', '1,1', [1]],
      OUT_PAD_ID: ['INT32', '1,1', [2]],
    });
  });

  test('word lists: absent, empty, mixed, per batch row', async () => {
    expect(await infer(preprocessing(['x'], [words('STOP_WORDS_DICT', [''])]))).toMatchObject({
      STOP_WORDS_IDS: ['INT32', '1,2,1', [0, -1]],
    });
    expect(await infer(preprocessing(['x'], [words('BAD_WORDS_DICT', [], [1, 0])]))).toMatchObject({
      BAD_WORDS_IDS: ['INT32', '1,2,1', [0, -1]],
    });
    expect(await infer(preprocessing(['x'], [words('STOP_WORDS_DICT', ['', '<|eos|><|user|>', '<|eos|>'])]))).toMatchObject({
      STOP_WORDS_IDS: ['INT32', '1,2,3', [1, 4, 1, 2, 3, -1]],
    });
    expect(
      await infer(preprocessing(['x', 'y'], [words('STOP_WORDS_DICT', ['<|eos|>', '<|user|><|user|>', '<|user|>', ''], [2, 2])])),
    ).toMatchObject({
      STOP_WORDS_IDS: ['INT32', '2,2,3', [1, 4, 4, 1, 3, -1, 4, 0, 0, 1, -1, -1]],
    });
  });

  test('a batch is padded on the right with the pad id', async () => {
    expect(await infer(preprocessing(['<|user|><|user|>', '']))).toMatchObject({
      INPUT_ID: ['INT32', '2,3', [0, 4, 4, 0, 2, 2]],
      REQUEST_INPUT_LEN: ['INT32', '2,1', [3, 1]],
    });
  });

  test('the embedding bias adds up and reaches BOS', async () => {
    const reply = await infer(
      preprocessing(
        ['x'],
        [words('EMBEDDING_BIAS_WORDS', ['<|user|>', '<|eos|>']), fp32Tensor('EMBEDDING_BIAS_WEIGHTS', [1, 2], [2, -3.5])],
      ),
    );
    const [datatype, shape, values] = reply.EMBEDDING_BIAS;
    expect([datatype, shape, values[0], values[1], values[4]]).toEqual(['FP32', '1,512', -1.5, -3.5, 2]);
    expect(await infer(preprocessing(['x'], [words('EMBEDDING_BIAS_WORDS', ['a'])]))).toMatchObject({
      EMBEDDING_BIAS: ['FP32', '1,0', []],
    });
  });

  test.each<[string, Infer, string, RegExp]>([
    [
      'invalid UTF-8',
      preprocessing([Uint8Array.of(97, 98, 99, 0xff)]),
      'INTERNAL',
      /^Failed to process the request\(s\) for model 'preprocessing_0_0', message: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 3: invalid start byte\n\nAt:\n {2}\/.*model\.py\(\d+\): <listcomp>\n/,
    ],
    ['cut UTF-8', preprocessing([Uint8Array.of(0xe6, 0x97)]), 'INTERNAL', /bytes in position 0-1: unexpected end of data/],
    [
      'bias words without as many weights',
      preprocessing(['x'], [words('EMBEDDING_BIAS_WORDS', ['a', 'b']), fp32Tensor('EMBEDDING_BIAS_WEIGHTS', [1, 1], [1])]),
      'INTERNAL',
      /message: AssertionError: Embedding bias words must have same dimension as embedding bias weights\n\nAt:\n/,
    ],
  ])('%s', async (_name, request, code, details) => {
    expect(await infer(request)).toEqual({ code, details: expect.stringMatching(details) });
  });
});

describe('postprocessing', () => {
  test.each<[string, Infer, unknown]>([
    ['no token', postprocessing([1, 1, 0], [], [1, 1], [0]), ['BYTES', '1', ['']]],
    ['special tokens are skipped', postprocessing([1, 1, 2], [0, 1], [1, 1], [2]), ['BYTES', '1', ['']]],
    ['beams padded with -1 beyond their length', postprocessing([1, 2, 2], [1, -1, 1, 1], [1, 2], [1, 2]), ['BYTES', '2', ['', '']]],
    [
      'two prompts of two beams, without a batch dimension',
      postprocessing([2, 2, 1], [1, 1, 1, 1], [2, 2], [1, 1, 1, 1]),
      ['BYTES', '4', ['', '', '', '']],
    ],
    ['an id beyond the vocabulary is dropped', postprocessing([1, 1, 1], [99999], [1, 1], [1]), ['BYTES', '1', ['']]],
  ])('%s', async (_name, request, output) => {
    expect(await infer(request)).toEqual({ OUTPUT: output });
  });

  test('a length of -1 loses the last token, as a Python slice does', async () => {
    const text = async (ids: readonly number[], length: number) =>
      (await infer(postprocessing([1, 1, ids.length], ids, [1, 1], [length]))).OUTPUT[2][0];
    expect(await text([300, 301, 302], -1)).toBe(await text([300, 301], 2));
    expect(await text([300, 301, 302], 9)).toBe(await text([300, 301, 302], 3));
  });

  test('a character split over chunks is U+FFFD in each', async () => {
    const { INPUT_ID } = await infer(preprocessing(['日']));
    const ids = INPUT_ID[2].slice(1);
    const chunks = await Promise.all(ids.map((id: number) => infer(postprocessing([1, 1, 1], [id], [1, 1], [1]))));
    expect(ids.length).toBeGreaterThan(1);
    expect(chunks.map((c) => c.OUTPUT[2][0]).join('')).toMatch(/\uFFFD/);
    expect((await infer(postprocessing([1, 1, ids.length], ids, [1, 1], [ids.length]))).OUTPUT[2]).toEqual(['日']);
  });

  test.each<[string, Infer, RegExp]>([
    [
      'a negative id inside the length',
      postprocessing([1, 1, 2], [5, -1], [1, 1], [2]),
      /OverflowError: out of range integral type conversion attempted\n\nAt:\n/,
    ],
    [
      'fewer lengths than beams',
      postprocessing([1, 2, 1], [5, 5], [1, 1], [1]),
      /IndexError: index 1 is out of bounds for axis 0 with size 1\n\nAt:\n/,
    ],
  ])('%s', async (_name, request, details) => {
    expect(await infer(request)).toEqual({ code: 'INTERNAL', details: expect.stringMatching(details) });
  });
});

const query = bytesTensor('QUERY', [1, 1], ['hello']);
const length = int32Tensor('REQUEST_OUTPUT_LEN', [1, 1], [7]);
const pre = (inputs: readonly Tensor[], rest: Partial<Infer> = {}): Infer => ({ model: 'preprocessing', inputs, ...rest });
const UNKNOWN = '[request id: <id_unknown>] ';

describe('refusals, texts of 2.51', () => {
  test.each<[string, Infer, string, string]>([
    ['a decoupled model', raw([1], 1), 'UNIMPLEMENTED', "ModelInfer RPC doesn't support models with decoupled transaction policy"],
    [
      'an ensemble with a decoupled step',
      ensemble('x', 1),
      'UNIMPLEMENTED',
      "ModelInfer RPC doesn't support models with decoupled transaction policy",
    ],
    ['unknown model', { model: 'nope', inputs: [] }, 'NOT_FOUND', "Request for unknown model: 'nope' is not found"],
    [
      'unknown version',
      pre([query, length], { version: '7' }),
      'NOT_FOUND',
      "Request for unknown model: 'preprocessing' version 7 is not found",
    ],
    [
      'version that is no number',
      pre([query, length], { version: 'abc' }),
      'INVALID_ARGUMENT',
      "failed to get model version from specified version string 'abc' (details: stol), version should be an integral value > 0",
    ],
    [
      'negative version',
      pre([query, length], { version: '-3' }),
      'INVALID_ARGUMENT',
      "invalid model version specified '-3' , version should be an integral value > 0",
    ],
    [
      'unknown input',
      pre([query, length, int32Tensor('ZZ', [1, 1], [1])]),
      'INVALID_ARGUMENT',
      "unexpected inference input 'ZZ' for model 'preprocessing'",
    ],
    [
      'unknown output',
      pre([query, length], { outputs: ['QQ'] }),
      'INVALID_ARGUMENT',
      "unexpected inference output 'QQ' for model 'preprocessing'",
    ],
    ['duplicate input', pre([query, query, length]), 'INVALID_ARGUMENT', `${UNKNOWN}input 'QUERY' already exists in request`],
    [
      'missing input',
      pre([query]),
      'INVALID_ARGUMENT',
      `${UNKNOWN}expected number of inputs between 2 and 10 but got 1 inputs for model 'preprocessing'. Got input(s) ['QUERY'], but missing required input(s) ['REQUEST_OUTPUT_LEN']. Please provide all required input(s).`,
    ],
    [
      'missing input, none optional',
      { model: 'postprocessing', inputs: [int32Tensor('TOKENS_BATCH', [1, 1, 1], [5])] },
      'INVALID_ARGUMENT',
      `${UNKNOWN}expected 2 inputs but got 1 inputs for model 'postprocessing'. Got input(s) ['TOKENS_BATCH'], but missing required input(s) ['SEQUENCE_LENGTH']. Please provide all required input(s).`,
    ],
    [
      'dtype',
      pre([query, { ...length, datatype: 'INT64', data: new Uint8Array(8) }]),
      'INVALID_ARGUMENT',
      `${UNKNOWN}inference input 'REQUEST_OUTPUT_LEN' data-type is 'INT64', but model 'preprocessing' expects 'INT32'`,
    ],
    [
      'unspecified dimension',
      pre([{ ...query, shape: [1, -1] }, length]),
      'INVALID_ARGUMENT',
      `${UNKNOWN}All input dimensions should be specified for input 'QUERY' for model 'preprocessing', got [1,-1]`,
    ],
    [
      'batch too large',
      preprocessing(Array.from({ length: 9 }, () => 'x')),
      'INVALID_ARGUMENT',
      `${UNKNOWN}inference request batch-size must be <= 8 for 'preprocessing'`,
    ],
    [
      'short',
      pre([query, { ...length, data: new Uint8Array(3) }]),
      'INVALID_ARGUMENT',
      `${UNKNOWN}input byte size mismatch for input 'REQUEST_OUTPUT_LEN' for model 'preprocessing'. Expected 4, got 3`,
    ],
    [
      'BYTES cut',
      pre([{ ...query, data: Uint8Array.of(10, 0, 0, 0, 97, 98, 99) }, length]),
      'INVALID_ARGUMENT',
      "incomplete string data for inference input 'QUERY', expecting string of length 10 but only 3 bytes available",
    ],
    [
      'reserved parameter',
      pre([query, length], { parameters: { triton_x: { int64_param: '1' } } }),
      'INVALID_ARGUMENT',
      "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with 'triton_' are allowed: triton_enable_empty_final_response",
    ],
    [
      'wrong kind of parameter',
      pre([query, length], { parameters: { sequence_id: { bool_param: true } } }),
      'INVALID_ARGUMENT',
      "invalid value type for 'sequence_id' parameter, expected int64_param or string_param.",
    ],
  ])('%s', async (_name, request, code, details) => {
    expect(await infer(request)).toEqual({ code, details });
  });

  test('shape, with and without a request id', async () => {
    const two = bytesTensor('QUERY', [1, 2], ['a', 'b']);
    expect((await infer(pre([two, length]))).details).toMatch(
      /^\[request id: <id_unknown>\] unexpected shape for input 'QUERY' for model 'preprocessing'\. Expected \[-1,1\], got \[1,2\]\. NOTE: Setting a non-zero max_batch_size/,
    );
    expect((await infer(pre([two, length], { id: 'mine' }))).details).toMatch(/^\[request id: mine\] unexpected shape/);
  });
});

describe('where the data of an input is', () => {
  const typed = (first: object | null, second: object | null, raws: readonly Uint8Array[] = []) => ({
    model_name: 'preprocessing',
    inputs: [
      { name: 'QUERY', datatype: 'BYTES', shape: [1, 1], contents: first },
      { name: 'REQUEST_OUTPUT_LEN', datatype: 'INT32', shape: [1, 1], contents: second },
    ],
    raw_input_contents: raws,
  });
  const text = { bytes_contents: [Buffer.from('a')] };

  test('typed contents are accepted', async () => {
    expect(await lab.call('ModelInfer', typed(text, { int_contents: [3] }))).toMatchObject({ model_name: 'preprocessing' });
  });

  test.each<[string, object, string]>([
    [
      'the wrong field',
      typed(text, { int64_contents: [3] }),
      "unexpected explicit tensor data for input tensor 'REQUEST_OUTPUT_LEN' for model 'preprocessing' of type 'INT64', expected datatype 'INT32'",
    ],
    ['nowhere', typed(null, null), "unable to find data for input tensor 'QUERY' for model 'preprocessing' in request."],
    [
      'typed and raw',
      typed(text, null, [Buffer.alloc(4)]),
      "contents field must not be specified when using raw_input_contents for 'QUERY' for model 'preprocessing'",
    ],
  ])('%s', async (_name, request, details) => {
    expect(await lab.call('ModelInfer', request)).toEqual({ code: 'INVALID_ARGUMENT', details });
  });

  test('a surplus raw entry is ignored', async () => {
    expect(await lab.call('ModelInfer', typed(null, null, [query.data, length.data, Buffer.alloc(9)]))).toMatchObject({
      model_name: 'preprocessing',
    });
  });
});
