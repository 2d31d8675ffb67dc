import { expect, test } from 'vitest';
import { boolTensor, bytesTensor, int32Tensor } from '#wire/protocol/tensors.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { MODEL_FAULTS } from '../faults/models.ts';
import {
  EMPTY_FINAL,
  ensemble,
  GrpcLab,
  inferMessage,
  type LabOptions,
  type Message,
  postprocessing,
  preprocessing,
  raw,
  REPOSITORY,
  stream,
  STREAMING,
  valuesOf,
} from '../grpc/testing.ts';
import { STUB_DIES_AFTER } from './postprocessing.ts';

const tokenizer = loadTokenizer(`${REPOSITORY}/../checkpoint/tiny`);
const ANSWER = ' the end. 日本 the day';
const ids = tokenizer.encode(ANSWER, { addSpecialTokens: false });
const script = () => ({ ids });
const textOf = (messages: readonly Message[]) => messages.map((m) => m.outputs['text_output']?.[2][0] ?? '').join('');

async function withFault<T>(fault: string, work: (lab: GrpcLab) => Promise<T>, options: LabOptions = {}): Promise<T> {
  await using lab = await GrpcLab.start({ script, faults: fault === '' ? [] : [fault], ...options });
  return await work(lab);
}

async function tensorOf(lab: GrpcLab, request: Parameters<typeof inferMessage>[0], name: string) {
  const reply = await lab.call('ModelInfer', inferMessage(request));
  const at = reply.outputs.findIndex((o: { name: string }) => o.name === name);
  return valuesOf(reply.outputs[at].datatype, reply.raw_output_contents[at]);
}

const streamedBy = (model: string) => (lab: GrpcLab) => lab.stream({ ...ensemble('x', 60, [stream], { parameters: EMPTY_FINAL }), model });
const streamed = streamedBy('ensemble');

test('the catalogue names every fault once', () => {
  expect(new Set(MODEL_FAULTS.map((f) => f.id)).size).toBe(MODEL_FAULTS.length);
  expect(MODEL_FAULTS.every((f) => /^https:\/\/github\.com\/.+\/(issues|pull)\/\d+$/.test(f.thread) && f.caughtBy.length > 0)).toBe(true);
});

test('without a fault: streamed text breaks characters, whole text does not; ideal holds them back', async () => {
  expect(textOf(await withFault('', streamed))).toMatch(/\uFFFD/);
  expect(textOf(await withFault('', streamed, { profile: 'ideal' }))).toBe(ANSWER);
  expect(textOf(await withFault('', (lab) => lab.stream(ensemble('x', 60, [boolTensor('exclude_input_in_output', [1, 1], [true])]))))).toBe(
    ANSWER,
  );
  // Cut inside a character: what was held back comes at the end.
  const cut = ids.findIndex((id) => tokenizer.decode([id]).includes('\uFFFD')) + 1;
  expect(textOf(await withFault('', (lab) => lab.stream(ensemble('x', cut, [stream])), { profile: 'ideal' }))).toBe(
    tokenizer.decode(ids.slice(0, cut)),
  );
});

test('stop-words-bos-in-ids', async () => {
  const request = preprocessing(['x'], [bytesTensor('STOP_WORDS_DICT', [1, 1], ['<|user|>'])]);
  expect(await withFault('', (lab) => tensorOf(lab, request, 'STOP_WORDS_IDS'))).toEqual([4, 1]);
  expect(await withFault('stop-words-bos-in-ids', (lab) => tensorOf(lab, request, 'STOP_WORDS_IDS'))).toEqual([0, 4, 2, -1]);
});

test('add-special-tokens-default-false', async () => {
  expect(await withFault('', (lab) => tensorOf(lab, preprocessing(['<|user|>']), 'INPUT_ID'))).toEqual([0, 4]);
  expect(await withFault('add-special-tokens-default-false', (lab) => tensorOf(lab, preprocessing(['<|user|>']), 'INPUT_ID'))).toEqual([4]);
});

test('stream-no-spaces-ensemble', async () => {
  expect(textOf(await withFault('stream-no-spaces-ensemble', streamed))).not.toMatch(/ /);
});

test('im-end-in-output', async () => {
  expect(await withFault('im-end-in-output', (lab) => tensorOf(lab, postprocessing([1, 1, 1], [1], [1, 1], [1]), 'OUTPUT'))).toEqual([
    '<|eos|>',
  ]);
});

test('bls-no-final-flag: no message has the flag, and the stream still ends', async () => {
  const messages = await withFault('bls-no-final-flag', streamedBy('tensorrt_llm_bls'));
  expect(messages.length).toBeGreaterThan(1);
  expect(messages.every((m) => m.final === false)).toBe(true);
});

test('health-200-dead-python-stub: ready, and every request fails', async () => {
  const seen = await withFault('health-200-dead-python-stub', async (lab) => {
    const once = () => lab.stream(ensemble('x', 1));
    for (let i = 0; i < STUB_DIES_AFTER; i++) expect((await once())[0]?.error).toBe('');
    return { ready: await lab.call('ModelReady', { name: 'postprocessing' }), after: await once() };
  });
  expect(seen).toMatchObject({
    ready: { ready: true },
    after: [{ error: "in ensemble 'ensemble', Stub process 'postprocessing_0_0' is not healthy.", final: true }],
  });
});

test('positional-args-shift: min_tokens has no effect', async () => {
  const count = (lab: GrpcLab) =>
    lab
      .stream(raw([5], 40, [STREAMING, int32Tensor('end_id', [1, 1], [1]), int32Tensor('min_tokens', [1, 1], [30])]))
      .then((m) => m.length);
  expect(await withFault('', count)).toBeGreaterThan(29);
  expect(await withFault('positional-args-shift', count)).toBe(ids.length + 1);
});

test('metrics-missing-python-backend', async () => {
  expect(await withFault('', async (lab) => lab.core.metricsText())).toContain(
    'nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="active",version="1"} 0',
  );
  expect(await withFault('metrics-missing-python-backend', async (lab) => lab.core.metricsText())).not.toContain('nv_trt_llm_');
});

test('decoupled-client-one-token', async () => {
  const messages = await withFault('decoupled-client-one-token', streamed);
  expect(messages.map((m) => m.final)).toEqual([false, true]);
  expect(textOf(messages)).toBe(tokenizer.decode(ids.slice(0, 1)));
});

test('bls-not-streaming-at-all: all events at the end, at once', async () => {
  const spread = (fault: string) =>
    withFault(
      fault,
      async (lab) => {
        const call = lab.open();
        const steps: number[] = [];
        call.on('data', () => steps.push(lab.engine.stats().iteration));
        call.write(inferMessage({ ...ensemble('x', 60, [stream]), model: 'tensorrt_llm_bls' }));
        call.end();
        await new Promise((resolve) => call.on('end', resolve));
        return { events: steps.length, stepsBetween: steps.at(-1)! - steps[0]! };
      },
      { stepMs: 2 },
    );
  const [held, live] = [await spread('bls-not-streaming-at-all'), await spread('')];
  expect(held.events).toBe(live.events);
  expect(held.stepsBetween).toBe(0);
  expect(live.stepsBetween).toBeGreaterThan(held.events / 2);
});

test('stream-reordered-postprocessing: the chunks are all there, in another order, the flag on the last', async () => {
  const good = await withFault('', streamed, { stepMs: 2 });
  const bad = await withFault('stream-reordered-postprocessing', streamed, { stepMs: 2 });
  const texts = (messages: readonly Message[]) => messages.map((m) => m.outputs['text_output']?.[2][0]);
  expect(texts(bad)).not.toEqual(texts(good));
  expect(new Set(texts(bad))).toEqual(new Set(texts(good)));
  expect(bad.map((m) => m.final).lastIndexOf(false)).toBe(bad.length - 2);
});

test('several-instances-one-gpu: every second request fails', async () => {
  const errors = await withFault('several-instances-one-gpu', async (lab) => [
    await lab.stream(ensemble('x', 1)),
    await lab.stream(ensemble('x', 1)),
    await lab.stream(ensemble('x', 1)),
  ]);
  expect(errors.map(([m]) => m?.error !== '')).toEqual([false, true, false]);
});

test('stream-cjk-replacement-char: ideal breaks characters again', async () => {
  expect(textOf(await withFault('stream-cjk-replacement-char', streamed, { profile: 'ideal' }))).toMatch(/\uFFFD/);
});

test('sequence-length-ignores-end-id: prompt and max_tokens together, in every response', async () => {
  const messages = await withFault('sequence-length-ignores-end-id', (lab) =>
    lab.stream(raw([5, 6], 40, [STREAMING, int32Tensor('end_id', [1, 1], [1])])),
  );
  expect(new Set(messages.map((m) => m.outputs['sequence_length']?.[2][0]))).toEqual(new Set([42]));
});

test('stats-of-first-iteration-only: the engine is where it was when the model was loaded', async () => {
  const iterations = async (lab: GrpcLab) => {
    await streamed(lab);
    return /general_type="iteration_counter".*? (\d+)$/m.exec(lab.core.metricsText())?.[1];
  };
  expect(Number(await withFault('', iterations))).toBeGreaterThan(0);
  expect(await withFault('stats-of-first-iteration-only', iterations)).toBe('0');
});

test('beam-width-ignored: seven beams are accepted', async () => {
  const ask = (lab: GrpcLab) => lab.stream(raw([5], 2, [STREAMING, int32Tensor('beam_width', [1, 1], [7])]));
  expect((await withFault('', ask))[0]?.error).toMatch(/beam_width 7 exceeds/);
  expect((await withFault('beam-width-ignored', ask)).map((m) => m.error)).toEqual(['', '']);
});

test('stats-fail-when-kv-off', async () => {
  const [stats] = await withFault('stats-fail-when-kv-off', async (lab) => {
    await streamed(lab);
    return lab.core.modelStatistics('ensemble', '');
  });
  expect(stats).toMatchObject({ inference_count: 0, inference_stats: { success: { count: 0 } } });
});
