import { type Tensor, boolTensor, bytesTensor, fp32Tensor, int32Tensor } from '#wire/protocol/tensors.ts';
import type { Area, Ask, Probe, Reading } from '../types.ts';
import { ASKS_FOR_END, type Infer, infer, post, stream } from './build.ts';

const TEXT = 'hello';
const streaming = boolTensor('stream', [1, 1], [true]);
const wantsEnd = { parameters: ASKS_FOR_END, id: 'q' };

/** To a model that takes text, whatever it makes of it. */
const text = (model: string, maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer => ({
  model,
  inputs: [bytesTensor('text_input', [1, 1], [TEXT]), int32Tensor('max_tokens', [1, 1], [maxTokens]), ...more],
  ...rest,
});

const raw = (maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer => ({
  model: 'tensorrt_llm',
  inputs: [
    int32Tensor('input_ids', [1, 3], [7, 8, 9]),
    int32Tensor('input_lengths', [1, 1], [3]),
    int32Tensor('request_output_len', [1, 1], [maxTokens]),
    ...more,
  ],
  ...rest,
});

const rawStreaming = boolTensor('streaming', [1, 1], [true]);
const nope = bytesTensor('nope', [1, 1], ['a']);

function rows(model: string, of: readonly (readonly [area: Area, id: string, ask: Ask, read?: Reading])[]): readonly Probe[] {
  return of.map(([area, id, ask, read = 'text']) => ({ id: `${model}/${id}`, area, ask, read, needs: [model] }));
}

/** How the stock models of a TensorRT-LLM repository frame and end their answers, and refuse: not what they answer. */
export const STOCK_PROBES: readonly Probe[] = [
  ...['ensemble', 'tensorrt_llm_bls'].flatMap((model) =>
    rows(model, [
      ['stream', 'stream/limit', stream(text(model, 3, [streaming], wantsEnd)), 'frame'],
      ['stream', 'stream/limit-without-the-end-flag', stream(text(model, 3, [streaming], { id: 'q' })), 'frame'],
      ['stream', 'stream/whole', stream(text(model, 3, [], wantsEnd)), 'frame'],
      ['stream', 'stream/unknown-input', stream(text(model, 3, [nope], wantsEnd))],
      ['stream', 'stream/unknown-output', stream(text(model, 3, [], { ...wantsEnd, outputs: ['nope'] }))],
      ['stream', 'stream/wrong-type', stream(text(model, 3, [fp32Tensor('beam_width', [1, 1], [1])], wantsEnd))],
      ['stream', 'stream/wrong-shape', stream({ model, ...wantsEnd, inputs: [bytesTensor('text_input', [1, 2], ['a', 'b'])] })],
      ['stream', 'stream/text-alone', stream({ model, ...wantsEnd, inputs: [bytesTensor('text_input', [1, 1], ['a'])] })],
      ['grpc', 'infer', infer(text(model, 3)), 'frame'],
      ['generate', 'generate', post(`/v2/models/${model}/generate`, { text_input: TEXT, max_tokens: 3 }), 'fields'],
      ['generate', 'generate/several', post(`/v2/models/${model}/generate`, { text_input: TEXT, max_tokens: 3, stream: true })],
      ['generate', 'generate/wrong-type', post(`/v2/models/${model}/generate`, { text_input: 7, max_tokens: 3 })],
      ['generate', 'generate/number-as-text', post(`/v2/models/${model}/generate`, { text_input: TEXT, max_tokens: 'x' })],
      ['generate', 'generate/missing-input', post(`/v2/models/${model}/generate`, { text_input: TEXT })],
      ['http', 'http-infer', post(`/v2/models/${model}/infer`, { inputs: [] })],
    ]),
  ),
  ...rows('tensorrt_llm', [
    ['stream', 'stream/limit', stream(raw(3, [rawStreaming], wantsEnd)), 'frame'],
    ['stream', 'stream/limit-without-the-end-flag', stream(raw(3, [rawStreaming], { id: 'q' })), 'frame'],
    ['stream', 'stream/whole', stream(raw(3, [], wantsEnd)), 'frame'],
    ['stream', 'stream/unknown-input', stream(raw(3, [nope], wantsEnd))],
    ['stream', 'stream/no-tokens', stream(raw(0, [], wantsEnd))],
    [
      'stream',
      'stream/two-at-once',
      stream(raw(1, [], { ...wantsEnd, id: 'a' }), { ...raw(1, [], wantsEnd), model: 'nope', id: 'b' }),
      'frame',
    ],
    ['grpc', 'infer', infer(raw(3)), 'frame'],
  ]),
];
