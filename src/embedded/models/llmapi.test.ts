import { once } from 'node:events';
import { expect, test } from 'vitest';
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor } from '#wire/protocol/tensors.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { EMPTY_FINAL, GrpcLab, inferMessage, type Infer, type LabOptions, type Message, REPOSITORY } from '../grpc/testing.ts';

const tokenizer = loadTokenizer(`${REPOSITORY}/../checkpoint/tiny`);
const ids = tokenizer.encode('the end. 日本 the day', { addSpecialTokens: false });
const flag = (name: string) => boolTensor(name, [1], [true]);
const STREAM = flag('streaming');
const ALONE = flag('sampling_param_exclude_input_from_output');
const REASONS = [flag('return_finish_reason'), flag('return_stop_reason'), flag('return_cumulative_logprob')];
const max = (n: number) => int32Tensor('sampling_param_max_tokens', [1], [n]);

function llmapi(more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer {
  return { model: 'llmapi', inputs: [bytesTensor('text_input', [1], ['say '])].concat(more), parameters: EMPTY_FINAL, ...rest };
}

async function ask(request: Infer, options: LabOptions = {}): Promise<Message[]> {
  await using lab = await GrpcLab.start({ script: () => ({ ids }), ...options });
  return await lab.stream(request);
}

const values = (m: Message | undefined, name: string) => m?.outputs[name]?.[2][0];
const texts = (messages: readonly Message[]) => messages.map((m) => values(m, 'text_output'));

test('a stream sends the whole text each time, a character when it is whole, and its end on the last text', async () => {
  const messages = await ask(llmapi([STREAM, ...REASONS]));
  expect(texts(messages).at(-1)).toBe('the end. 日本 the day');
  expect(messages).toHaveLength(ids.length + 1);
  expect(texts(messages).every((text, k) => k === 0 || String(text).startsWith(String(texts(messages)[k - 1])))).toBe(true);
  expect(messages.map((m) => m.final)).toEqual([...ids.map(() => false), true]);
  expect(messages.map((m) => values(m, 'finish_reason'))).toEqual([...ids.map(() => 'None'), 'stop']);
  expect(messages[0]?.outputs['cumulative_logprob']).toEqual(['BYTES', '1', ['None']]);
});

test('an answer that is not streamed has the prompt in front unless it is excluded; 32 tokens when nobody says how many', async () => {
  expect(texts(await ask(llmapi()))).toEqual(['say the end. 日本 the day']);
  const endless = { script: () => ({ ids: Array.from({ length: 100 }, () => ids[0]!) }) };
  const [message] = await ask(llmapi([ALONE, ...REASONS]), endless);
  expect(values(message, 'text_output')).toBe(tokenizer.decode(Array.from({ length: 32 }, () => ids[0]!)));
  expect(values(message, 'finish_reason')).toBe('length');
});

test('twelve metrics come as text, whatever their declared types', async () => {
  const [message] = await ask(llmapi([max(3), ALONE, flag('sampling_param_return_perf_metrics')]));
  const { text_output: _, ...metrics } = message!.outputs;
  expect(Object.keys(metrics)).toHaveLength(12);
  for (const [datatype, shape, [value]] of Object.values(metrics)) {
    expect([datatype, shape]).toEqual(['BYTES', '1']);
    expect(value).toMatch(/^\d+(\.\d+)?$/);
  }
});

const REFUSED: readonly (readonly [string, readonly Tensor[], string])[] = [
  ['top_p above 1', [fp32Tensor('sampling_param_top_p', [1], [1.5])], 'Error generating request: require 0 <= top_p <= 1, got top_p=1.5'],
  ['top_k below 0', [int32Tensor('sampling_param_top_k', [1], [-1])], 'Error generating request: require top_k >= 0, got top_k=-1'],
  [
    'temperature below 0',
    [fp32Tensor('sampling_param_temperature', [1], [-1])],
    'Error generating request: require temperature >= 0, got temperature=-1.0',
  ],
  ['a stop string', [bytesTensor('sampling_param_stop', [1], ['e'])], 'Error generating request: TextInputSequence must be str'],
  ['a stop request without an id', [flag('stop')], 'A request id must be provided for request cancellation'],
];

test('what the LLM API refuses, it refuses in its own words', async () => {
  await using lab = await GrpcLab.start({ script: () => ({ ids }) });
  for (const [name, more, text] of REFUSED) {
    expect([name, (await lab.stream(llmapi(more))).map((m) => [m.error, m.final])]).toEqual([name, [[text, true]]]);
  }
});

test('a stop request ends the stream of its id, and is itself answered as cancelled', async () => {
  await using lab = await GrpcLab.start({ script: () => ({ ids: Array.from({ length: 500 }, () => ids[0]!) }), stepMs: 5 });
  const stopped = lab.stream(llmapi([STREAM, max(500), ...REASONS], { id: 'a' }));
  while (lab.engine.stats().active === 0) await lab.call('ServerLive', {});
  expect((await lab.stream(llmapi([flag('stop')], { id: 'a' }))).map((m) => m.error)).toEqual(['Request cancelled by client']);
  const messages = await stopped;
  expect(messages.length).toBeLessThan(400);
  expect([values(messages.at(-1), 'finish_reason'), messages.at(-1)?.final]).toEqual(['cancelled', true]);
  expect(lab.engine.stats()).toMatchObject({ active: 0, blocksUsed: 0 });
});

test('a stop request ends an answer that is not streamed as cancelled; with its fault the client waits in vain', async () => {
  const script = () => ({ ids: Array.from({ length: 500 }, () => ids[0]!) });
  const stopped = [llmapi([max(500)], { id: 'a' }), llmapi([flag('stop')], { id: 'a' })];
  {
    await using lab = await GrpcLab.start({ script, stepMs: 5 });
    const messages = await lab.stream(...stopped);
    expect(messages.map((m) => [m.id, m.error, m.final])).toEqual(Array(2).fill(['a', 'Request cancelled by client', true]));
    expect(lab.engine.stats()).toMatchObject({ active: 0, blocksUsed: 0 });
  }
  // Not closed: it would wait for its request.
  const lab = await GrpcLab.start({ script, stepMs: 5, faults: ['stopped-request-unanswered'] });
  const call = lab.open(500);
  for (const request of stopped) call.write(inferMessage(request));
  call.end();
  let answers = 0;
  call.on('data', () => answers++);
  const [error] = await once(call, 'error');
  expect([error.details, answers]).toEqual([expect.stringMatching(/deadline/i), 1]);
  lab.client.close();
});

test('a model that is not decoupled answers whole, and refuses to stream', async () => {
  await using lab = await GrpcLab.start({ script: () => ({ ids }) });
  const config = { ...lab.core.modelConfig('llmapi', ''), model_transaction_policy: { decoupled: false } };
  await lab.core.loadModel('llmapi', new Map([['config', JSON.stringify(config)]]));
  expect(texts(await lab.stream(llmapi([ALONE])))).toEqual(['the end. 日本 the day']);
  expect((await lab.stream(llmapi([STREAM])))[0]?.error).toBe('Error generating request: Streaming is only supported in decoupled mode.');
});

test('a client that leaves stops the engine at the next look', async () => {
  await using lab = await GrpcLab.start({ script: () => ({ ids: Array.from({ length: 500 }, () => ids[0]!) }), stepMs: 5 });
  const call = lab.open();
  call.on('error', () => undefined);
  call.write(inferMessage(llmapi([STREAM, max(500)])));
  while (lab.engine.stats().active === 0) await lab.call('ServerLive', {});
  call.cancel();
  while (lab.engine.stats().active > 0) await lab.call('ServerLive', {});
  expect(lab.engine.stats().iteration).toBeLessThan(400);
});
