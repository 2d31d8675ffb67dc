/** What each route sends for greedy and for sampled requests: names, datatypes, shapes and values. */
import { expect, test } from 'vitest';
import { profileOf } from '#core/profile/index.ts';
import type { Limits, Sampling } from '#core/request/index.ts';
import { decodeBytesElements, fp32Values, int32Values, type Tensor } from '#wire/protocol/tensors.ts';
import { ensembleRequest, generateBody } from './ensemble-request.ts';
import { ROUTES } from './index.ts';
import { openAiBody } from './openai-request.ts';
import { rawRequest, stopRequest } from './raw-request.ts';
import { caseOn, contextOf, TOKENIZER } from './testing.ts';

const OPTIONS = { deadlineMs: 1000 };
const CONTEXT = contextOf({});
const SAMPLED: Sampling = { kind: 'sampled', seed: 42, temperature: 0.5, topK: 7, topP: 0.25 };
const LIMITS: Limits = { maxTokens: 8, minTokens: 2, stopWords: ['. '] };

function values(tensor: Tensor): unknown {
  if (tensor.datatype === 'INT32') return [...int32Values(tensor.data)];
  if (tensor.datatype === 'FP32') return [...fp32Values(tensor.data)];
  if (tensor.datatype === 'UINT64') return [...new BigUint64Array(tensor.data.slice().buffer)];
  return tensor.datatype === 'BOOL' ? [...tensor.data].map((b) => b === 1) : decodeBytesElements(tensor.data).map(String);
}

const table = (tensors: readonly Tensor[]) => Object.fromEntries(tensors.map((t) => [t.name, [t.datatype, t.shape, values(t)]]));

test('raw, greedy: the required tensors and no sampling tensor', () => {
  const request = rawRequest(caseOn('raw'), 'id', Int32Array.of(0, 9), CONTEXT, OPTIONS);
  expect(request).toMatchObject({ model: 'tensorrt_llm', id: 'id', parameters: { triton_enable_empty_final_response: true } });
  expect(table(request.inputs)).toEqual({
    input_ids: ['INT32', [1, 2], [0, 9]],
    input_lengths: ['INT32', [1, 1], [2]],
    request_output_len: ['INT32', [1, 1], [8]],
    streaming: ['BOOL', [1, 1], [true]],
    exclude_input_in_output: ['BOOL', [1, 1], [true]],
    end_id: ['INT32', [1, 1], [TOKENIZER.eosId]],
    pad_id: ['INT32', [1, 1], [TOKENIZER.padId]],
    return_num_input_tokens: ['BOOL', [1, 1], [true]],
    return_num_output_tokens: ['BOOL', [1, 1], [true]],
  });
});

test('raw, sampled, with limits, log-probabilities and margins', () => {
  const c = caseOn('raw', { mode: 'unary', sampling: SAMPLED, limits: { ...LIMITS, stopAtEos: false } });
  const sent = table(rawRequest(c, 'id', Int32Array.of(0), CONTEXT, { ...OPTIONS, logProbs: true, margins: true }).inputs);
  const stop = TOKENIZER.encode('. ', { addSpecialTokens: false });
  expect(sent).toMatchObject({
    streaming: ['BOOL', [1, 1], [false]],
    runtime_top_k: ['INT32', [1, 1], [7]],
    runtime_top_p: ['FP32', [1, 1], [0.25]],
    temperature: ['FP32', [1, 1], [0.5]],
    seed: ['UINT64', [1, 1], [42n]],
    min_tokens: ['INT32', [1, 1], [2]],
    stop_words_list: ['INT32', [1, 2, stop.length], [...stop, stop.length, ...stop.slice(1).map(() => -1)]],
    return_log_probs: ['BOOL', [1, 1], [true]],
    return_generation_logits: ['BOOL', [1, 1], [true]],
  });
  expect(sent).not.toHaveProperty('end_id');
  expect(sent).not.toHaveProperty('pad_id');
});

test('the stop request has the same id and the required tensors at their smallest', () => {
  const request = stopRequest('tensorrt_llm', 'id');
  expect(request.id).toBe('id');
  expect(table(request.inputs)).toEqual({
    input_ids: ['INT32', [1, 1], [1]],
    input_lengths: ['INT32', [1, 1], [0]],
    request_output_len: ['INT32', [1, 1], [0]],
    stop: ['BOOL', [1, 1], [true]],
  });
});

test('ensemble and generate send the same inputs in two spellings', () => {
  const c = caseOn('ensemble', { sampling: SAMPLED, limits: LIMITS });
  expect(table(ensembleRequest(c, 'id', 'Hello', CONTEXT, { ...OPTIONS, logProbs: true }).inputs)).toEqual({
    text_input: ['BYTES', [1, 1], ['Hello']],
    max_tokens: ['INT32', [1, 1], [8]],
    stream: ['BOOL', [1, 1], [true]],
    exclude_input_in_output: ['BOOL', [1, 1], [true]],
    stop_words: ['BYTES', [1, 1], ['. ']],
    min_tokens: ['INT32', [1, 1], [2]],
    top_k: ['INT32', [1, 1], [7]],
    top_p: ['FP32', [1, 1], [0.25]],
    temperature: ['FP32', [1, 1], [0.5]],
    seed: ['UINT64', [1, 1], [42n]],
    return_log_probs: ['BOOL', [1, 1], [true]],
    return_num_input_tokens: ['BOOL', [1, 1], [true]],
    return_num_output_tokens: ['BOOL', [1, 1], [true]],
  });
  expect(generateBody(c, 'id', 'Hello', CONTEXT, { ...OPTIONS, logProbs: true })).toEqual({
    id: 'id',
    text_input: 'Hello',
    max_tokens: 8,
    stream: true,
    exclude_input_in_output: true,
    stop_words: ['. '],
    min_tokens: 2,
    top_k: 7,
    top_p: 0.25,
    temperature: 0.5,
    seed: 42,
    return_log_probs: true,
    return_num_input_tokens: true,
    return_num_output_tokens: true,
  });
});

test('ensemble, greedy: no sampling input', () => {
  const names = ensembleRequest(caseOn('ensemble'), 'id', 'Hello', CONTEXT, OPTIONS).inputs.map((t) => t.name);
  expect(names).toEqual([
    'text_input',
    'max_tokens',
    'stream',
    'exclude_input_in_output',
    'return_num_input_tokens',
    'return_num_output_tokens',
  ]);
});

test('OpenAI, greedy: temperature 0 and top_p 0; sampled: nothing that raw would not send', () => {
  expect(openAiBody(caseOn('openai-completions'), CONTEXT)).toEqual({
    model: 'ensemble',
    max_tokens: 8,
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0,
    top_p: 0,
  });
  const sampled = caseOn('openai-chat', {
    mode: 'unary',
    sampling: { kind: 'sampled', seed: 3, topP: 0.5 },
    limits: { maxTokens: 4, stopWords: ['a', 'b'] },
  });
  expect(openAiBody(sampled, CONTEXT)).toEqual({
    model: 'ensemble',
    max_tokens: 4,
    stream: false,
    temperature: null,
    top_p: 0.5,
    seed: 3,
    stop: ['a', 'b'],
  });
});

test('OpenAI, trtllm-serve: what the LLM API knows by its own names', () => {
  const profile = profileOf('openai=trtllm-serve-1.1');
  const serve = { ...CONTEXT, profile };
  const common = { model: 'ensemble', max_tokens: 8, stream: false };
  const sampled = caseOn('openai-completions', { mode: 'unary', sampling: SAMPLED, limits: LIMITS });
  expect(openAiBody(sampled, serve)).toEqual({ ...common, seed: 42, temperature: 0.5, top_k: 7, top_p: 0.25, min_tokens: 2, stop: ['. '] });
  expect(openAiBody(caseOn('openai-completions', { mode: 'unary' }), serve)).toEqual({ ...common, temperature: 0 });
  // raw sends neither top_k nor top_p then, and is greedy.
  const heated = caseOn('openai-completions', { mode: 'unary', sampling: { kind: 'sampled', seed: 1, temperature: 2 } });
  expect(openAiBody(heated, serve)).toEqual({ ...common, temperature: 0 });
  expect(ROUTES['openai-completions'].cannotCarry(sampled, profile)).toBeUndefined();
  expect(
    ROUTES['openai-completions'].cannotCarry(caseOn('openai-completions', { prompt: { kind: 'text', text: '' } }), profile),
  ).toBeUndefined();
});

test('names follow the release profile', () => {
  const { models } = CONTEXT.profile;
  const old = {
    ...CONTEXT,
    profile: {
      ...CONTEXT.profile,
      models: {
        ...models,
        seedTensor: { ...models.seedTensor, value: 'random_seed' as const },
        minTokensTensor: { ...models.minTokensTensor, value: 'min_length' as const },
        ensembleExcludeInput: { ...models.ensembleExcludeInput, value: false },
        returnsTokenCounts: { ...models.returnsTokenCounts, value: false },
      },
    },
  };
  const c = caseOn('ensemble', { sampling: SAMPLED, limits: LIMITS });
  expect(ensembleRequest(c, 'id', 'x', old, OPTIONS).inputs.map((t) => t.name)).toEqual([
    'text_input',
    'max_tokens',
    'stream',
    'stop_words',
    'min_length',
    'top_k',
    'top_p',
    'temperature',
    'random_seed',
  ]);
  expect(rawRequest(c, 'id', Int32Array.of(1), old, OPTIONS).inputs.map((t) => t.name)).toEqual(
    expect.arrayContaining(['random_seed', 'min_length']),
  );
});

test('a route says what it cannot carry', () => {
  const messages = { kind: 'messages', messages: [] } as const;
  const ids = { kind: 'ids', ids: [1] } as const;
  expect(ROUTES.raw.cannotCarry(caseOn('raw', { prompt: ids }))).toBeUndefined();
  for (const route of ['ensemble', 'generate', 'openai-completions'] as const) {
    expect(ROUTES[route].cannotCarry(caseOn(route, { prompt: ids }))).toContain('cannot send token ids');
    expect(ROUTES[route].cannotCarry(caseOn(route, { prompt: messages }))).toBeUndefined();
    expect(ROUTES[route].cannotCarry(caseOn(route, { limits: { maxTokens: 1, stopAtEos: false } }))).toContain('always stops at EOS');
  }
  expect(ROUTES['openai-chat'].cannotCarry(caseOn('openai-chat'))).toContain('sends messages');
  expect(ROUTES['openai-chat'].cannotCarry(caseOn('openai-chat', { prompt: messages, sampling: SAMPLED }))).toContain('top_k');
  expect(ROUTES['openai-completions'].cannotCarry(caseOn('openai-completions', { limits: LIMITS }))).toContain('min_tokens');
});
