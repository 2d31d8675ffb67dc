import { expect, test } from 'vitest';
import { INFERENCE_SERVICE } from '#wire/protocol/service.ts';
import { boolTensor, bytesTensor, int32Tensor } from '#wire/protocol/tensors.ts';
import { decodeInferResponse, decodeStreamInferResponse } from './decode.ts';
import { encodeInferRequest } from './encode.ts';

// proto-loader's codec, made from proto/, is the independent end of these tests.
const { ModelStreamInfer, ModelInfer } = INFERENCE_SERVICE;

test('a request decodes to what was meant', () => {
  const bytes = encodeInferRequest({
    model: 'tensorrt_llm',
    version: '3',
    id: 'r-1',
    inputs: [int32Tensor('input_ids', [1, 3], [5, -1, 2 ** 31 - 1]), bytesTensor('text', [1, 2], ['a', '日']), boolTensor('none', [0], [])],
    outputs: ['output_ids', 'sequence_length'],
    parameters: { flag: false, whole: 7, big: -(2n ** 63n), part: 0.5, word: 'ü' },
  });
  const parameter = (member: string, value: unknown) => ({ parameter_choice: member, [member]: value });
  expect(ModelInfer?.requestDeserialize(bytes)).toEqual({
    model_name: 'tensorrt_llm',
    model_version: '3',
    id: 'r-1',
    parameters: {
      flag: parameter('bool_param', false),
      whole: parameter('int64_param', '7'),
      big: parameter('int64_param', '-9223372036854775808'),
      part: parameter('double_param', 0.5),
      word: parameter('string_param', 'ü'),
    },
    inputs: [
      { name: 'input_ids', datatype: 'INT32', shape: ['1', '3'], parameters: {}, contents: null },
      { name: 'text', datatype: 'BYTES', shape: ['1', '2'], parameters: {}, contents: null },
      { name: 'none', datatype: 'BOOL', shape: ['0'], parameters: {}, contents: null },
    ],
    outputs: [
      { name: 'output_ids', parameters: {} },
      { name: 'sequence_length', parameters: {} },
    ],
    raw_input_contents: [Buffer.from('05000000ffffffffffffff7f', 'hex'), Buffer.from('010000006103000000e697a5', 'hex'), Buffer.alloc(0)],
  });
});

test('a response decodes with its outputs in order, its parameters and its final flag', () => {
  const response = {
    model_name: 'ensemble',
    model_version: '1',
    id: 'r-1',
    parameters: {
      triton_final_response: { bool_param: false },
      sequence_start: { bool_param: true },
      sequence_id: { int64_param: '-5' },
      big: { uint64_param: '18446744073709551615' },
      part: { double_param: 0.25 },
      word: { string_param: 'x' },
    },
    outputs: [
      { name: 'output_ids', datatype: 'INT32', shape: ['1', '1', '0'] },
      { name: 'text_output', datatype: 'BYTES', shape: ['300'] },
    ],
    raw_output_contents: [Buffer.alloc(0), Buffer.from('0100000061', 'hex')],
  };
  const expected = {
    id: 'r-1',
    modelName: 'ensemble',
    modelVersion: '1',
    final: false,
    errorMessage: undefined,
    parameters: new Map<string, unknown>([
      ['sequence_start', true],
      ['sequence_id', -5n],
      ['big', 18446744073709551615n],
      ['part', 0.25],
      ['word', 'x'],
    ]),
    outputs: [
      { name: 'output_ids', datatype: 'INT32', shape: [1, 1, 0], data: Buffer.alloc(0) },
      { name: 'text_output', datatype: 'BYTES', shape: [300], data: Buffer.from('0100000061', 'hex') },
    ],
  };
  expect(decodeInferResponse(ModelInfer?.responseSerialize(response) as Buffer)).toEqual(expected);
  expect(decodeStreamInferResponse(ModelStreamInfer?.responseSerialize({ infer_response: response }) as Buffer)).toEqual(expected);
});

test('an error in band keeps its id and whether it is the last', () => {
  const bytes = ModelStreamInfer?.responseSerialize({
    error_message: 'boom',
    infer_response: { id: 'r', parameters: { triton_final_response: { bool_param: true } } },
  }) as Buffer;
  expect(decodeStreamInferResponse(bytes)).toMatchObject({ id: 'r', errorMessage: 'boom', final: true, outputs: [] });
});

test('outputs without their raw contents are refused, not read as empty', () => {
  const bytes = ModelInfer?.responseSerialize({
    outputs: [{ name: 'a', datatype: 'INT32', shape: ['1'], contents: { int_contents: [1] } }],
  }) as Buffer;
  expect(() => decodeInferResponse(bytes)).toThrow('[tensor-malformed] a response has 1 outputs and 0 raw_output_contents');
});

test('raw contents without an output are refused, not dropped', () => {
  const bytes = ModelInfer?.responseSerialize({ outputs: [], raw_output_contents: [Buffer.from([1])] }) as Buffer;
  expect(() => decodeInferResponse(bytes)).toThrow('[tensor-malformed] raw_output_contents 0 belongs to no output');
});
