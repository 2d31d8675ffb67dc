import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { boolTensor, bytesTensor, int32Tensor } from '#wire/protocol/tensors.ts';
import { EMPTY_FINAL, ensemble, flatten, GrpcLab, inferMessage, preprocessing, raw, stream, STREAMING } from './testing.ts';

/** Endless answers for prompts that begin with 9, otherwise three ids and EOS. */
const script = (prompt: Int32Array) => ({ ids: prompt[0] === 9 ? Array.from({ length: 500 }, () => 70) : [70, 71, 72] });
const END = int32Tensor('end_id', [1, 1], [1]);
const outs = (n: number) => ({ output_ids: ['INT32', `1,1,${n}`, expect.anything()], sequence_length: ['INT32', '1,1', [n]] });

describe('ModelStreamInfer', () => {
  let lab: GrpcLab;
  beforeAll(async () => {
    lab = await GrpcLab.start({ script, stepMs: 1 });
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test('raw ends by EOS with an extra empty response that carries the flag', async () => {
    const messages = await lab.stream(raw([5], 9, [STREAMING, END], { id: 'a', parameters: EMPTY_FINAL }));
    expect(messages.map((m) => m.final)).toEqual([false, false, false, true]);
    expect(messages.map((m) => m.outputs['output_ids'])).toEqual([
      ['INT32', '1,1,1', [70]],
      ['INT32', '1,1,1', [71]],
      ['INT32', '1,1,1', [72]],
      ['INT32', '1,1,0', []],
    ]);
    expect(
      messages.every(
        (m) => m.id === 'a' && m.model === 'tensorrt_llm' && m.version === '1' && m.parameters.join() === 'triton_final_response',
      ),
    ).toBe(true);
  });

  test('raw ends by max_tokens on its last token, without an empty response', async () => {
    const messages = await lab.stream(raw([5], 2, [STREAMING, END], { parameters: EMPTY_FINAL }));
    expect(messages).toMatchObject([
      { final: false, outputs: outs(1) },
      { final: true, outputs: outs(1) },
    ]);
  });

  test('not streamed: one response, prompt first, or without it when excluded', async () => {
    expect(await lab.stream(raw([5, 6], 2, [END]))).toMatchObject([
      { final: true, outputs: { output_ids: ['INT32', '1,1,4', [5, 6, 70, 71]], sequence_length: ['INT32', '1,1', [4]] } },
    ]);
    expect(await lab.stream(raw([5, 6], 2, [END, boolTensor('exclude_input_in_output', [1, 1], [true])]))).toMatchObject([
      { outputs: { output_ids: ['INT32', '1,1,2', [70, 71]] } },
    ]);
  });

  test('ensemble responses carry three sequence parameters more, and an empty text at EOS', async () => {
    const messages = await lab.stream(ensemble('x', 9, [stream], { id: 'e', parameters: EMPTY_FINAL }));
    expect(messages.map((m) => m.final)).toEqual([false, false, false, true]);
    expect(messages.at(-1)?.outputs).toEqual({ text_output: ['BYTES', '1', ['']] });
    expect(messages[0]?.parameters).toEqual(['sequence_end', 'sequence_id', 'sequence_start', 'triton_final_response']);
  });

  test('a batch gives batch_index in every response and the flag once, last', async () => {
    const inputs = [
      int32Tensor('input_ids', [2, 2], [5, 6, 5, 2]),
      int32Tensor('input_lengths', [2, 1], [2, 1]),
      int32Tensor('request_output_len', [2, 1], [2, 3]),
      boolTensor('streaming', [2, 1], [true, true]),
    ];
    const messages = await lab.stream({ model: 'tensorrt_llm', inputs, parameters: EMPTY_FINAL });
    expect(messages.map((m) => m.final)).toEqual([false, false, false, false, true]);
    expect(messages.map((m) => Number(m.outputs['batch_index']?.[2][0])).toSorted((a, b) => a - b)).toEqual([0, 0, 1, 1, 1]);
  });

  test('requests of one stream interleave and keep their own order', async () => {
    const messages = await lab.stream(raw([9, 1], 20, [STREAMING], { id: 'long' }), raw([5], 2, [STREAMING], { id: 'short' }));
    const ids = messages.map((m) => m.id);
    expect(ids.lastIndexOf('short')).toBeLessThan(ids.lastIndexOf('long'));
    expect(ids.filter((id) => id === 'long')).toHaveLength(20);
    expect(
      messages
        .filter((m) => m.final === true)
        .map((m) => m.id)
        .sort(),
    ).toEqual(['long', 'short']);
  });

  test('a refused request is answered in-band with its id and nothing else; the stream goes on', async () => {
    const messages = await lab.stream({ model: 'nope', id: 'bad', inputs: [] }, raw([5], 1, [STREAMING], { id: 'good' }));
    expect(messages).toMatchObject([
      { error: "Request for unknown model: 'nope' is not found", id: 'bad', model: '', version: '', final: undefined, parameters: [] },
      { error: '', id: 'good', final: true },
    ]);
  });

  test('an error of a model carries flag and model name; the version is what the client asked for', async () => {
    const beams = int32Tensor('beam_width', [1, 1], [5]);
    const text = /^Executor failed process requestId \d+ due to the following error: beam_width 5 exceeds max_beam_width 4$/;
    expect(await lab.stream(raw([5], 1, [beams], { id: 'b' }))).toMatchObject([
      { error: expect.stringMatching(text), id: 'b', model: 'tensorrt_llm', version: '', final: true, outputs: {} },
    ]);
    expect(await lab.stream(raw([5], 1, [beams], { version: '1' }))).toMatchObject([{ version: '1' }]);
    expect(await lab.stream(ensemble('x', 1, [beams]))).toMatchObject([
      { error: expect.stringMatching(/^in ensemble 'ensemble', Executor failed/), model: 'ensemble', final: true },
    ]);
  });

  test('a required input that is missing while the count fits: flag-only, and nothing at all without the parameter', async () => {
    const inputs = [bytesTensor('text_input', [1, 1], ['x']), stream];
    expect(await lab.stream({ model: 'ensemble', inputs, id: 'm', parameters: EMPTY_FINAL })).toMatchObject([
      { error: '', id: 'm', model: 'ensemble', version: '', final: true, outputs: {} },
    ]);
    expect(await lab.stream({ model: 'ensemble', inputs })).toEqual([]);
  });

  test('stop ends the running request of the same id; the stop itself is flag-only', async () => {
    const call = lab.open();
    const seen: ReturnType<typeof flatten>[] = [];
    call.on('data', (m) => {
      seen.push(flatten(m));
      if (seen.length === 3) {
        call.write(inferMessage(raw([1], 0, [boolTensor('stop', [1, 1], [true])], { id: 's', parameters: EMPTY_FINAL })));
        call.end();
      }
    });
    call.write(inferMessage(raw([9], 400, [STREAMING], { id: 's' })));
    await new Promise((resolve) => call.on('end', resolve));
    expect(seen.length).toBeLessThan(50);
    const finals = seen.filter((m) => m.final === true);
    expect(finals.map((m) => Object.keys(m.outputs).length).toSorted((a, b) => a - b)).toEqual([0, 2]);
  });

  test('stop without an id is an error, with an unknown id a flag-only end', async () => {
    const stop = boolTensor('stop', [1, 1], [true]);
    expect(await lab.stream(raw([1], 0, [stop]))).toMatchObject([
      { error: 'A request id must be provided for request cancellation', final: true },
    ]);
    expect(await lab.stream(raw([1], 0, [stop], { id: 'nobody', parameters: EMPTY_FINAL }))).toMatchObject([
      { error: '', final: true, outputs: {} },
    ]);
    expect(await lab.stream(raw([1], 0, [stop], { id: 'nobody' }))).toEqual([]);
  });

  test('a model that is not decoupled gives one final message', async () => {
    expect(await lab.stream(preprocessing(['x']))).toMatchObject([{ final: true, model: 'preprocessing' }]);
  });

  test.each(['cancel', 'deadline'])('a %s of the stream stops every raw request on it', async (how) => {
    const begun = lab.engine.stats().iteration;
    // 499 steps of 1 ms are an answer's own end.
    const call = lab.open(how === 'deadline' ? 250 : 5000);
    call.on('error', () => undefined);
    call.write(inferMessage(raw([9, 1], 499, [STREAMING])));
    call.write(inferMessage(raw([9, 2], 499, [STREAMING])));
    await new Promise((resolve) => call.once('data', resolve));
    expect(lab.engine.stats().active).toBeGreaterThan(0);
    if (how === 'cancel') call.cancel();
    await pollUntil({ ms: 5000, what: 'the engine to be idle', everyMs: 2 }, () => (lab.engine.stats().active === 0 ? true : undefined));
    expect(lab.engine.stats().iteration - begun).toBeLessThan(499);
  });

  test('a cancelled ensemble leaves the running step alone, and counts as success', async () => {
    const before = lab.core.modelStatistics('ensemble', '')[0]?.inference_stats.success.count ?? 0;
    const call = lab.open();
    call.on('error', () => undefined);
    call.write(inferMessage(ensemble('y', 60, [stream, int32Tensor('end_id', [1, 1], [-1])])));
    await new Promise((resolve) => call.once('data', resolve));
    call.cancel();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(lab.engine.stats().active).toBe(1);
    await pollUntil({ ms: 10_000, what: 'the engine to end by itself', everyMs: 5 }, () =>
      lab.engine.stats().active === 0 ? true : undefined,
    );
    expect(lab.core.modelStatistics('ensemble', '')[0]?.inference_stats).toMatchObject({ success: { count: before + 1 } });
  });

  test('4000 small responses arrive complete through back-pressure, without a listener per request', async () => {
    const warnings: string[] = [];
    const onWarning = (w: Error) => warnings.push(w.name);
    process.on('warning', onWarning);
    const messages = await lab.stream(...Array.from({ length: 20 }, (_, i) => raw([9, i + 10], 200, [STREAMING], { id: `r${i}` })));
    process.off('warning', onWarning);
    expect(messages).toHaveLength(4000);
    expect(warnings).toEqual([]);
  });
});

test('the ideal profile cancels the running step of an ensemble and detects missing inputs', async () => {
  await using lab = await GrpcLab.start({ profile: 'ideal', stepMs: 1 });
  const call = lab.open();
  call.on('error', () => undefined);
  call.write(inferMessage(ensemble('y', 400, [stream])));
  await new Promise((resolve) => call.once('data', resolve));
  call.cancel();
  await pollUntil({ ms: 10_000, what: 'the engine to be idle', everyMs: 2 }, () => (lab.engine.stats().active === 0 ? true : undefined));
  // Its own end would be the 400th step.
  expect(lab.engine.stats().iteration).toBeLessThan(399);
  expect(await lab.stream({ model: 'ensemble', inputs: [bytesTensor('text_input', [1, 1], ['x']), stream] })).toMatchObject([
    { error: expect.stringContaining("missing required input(s) ['max_tokens']") },
  ]);
});

test('metadata triton_grpc_error ends the stream with the status of the first error', async () => {
  await using lab = await GrpcLab.start();
  const { Metadata } = await import('@grpc/grpc-js');
  const metadata = new Metadata();
  metadata.set('triton_grpc_error', 'true');
  const call = lab.client.ModelStreamInfer(metadata);
  call.write(inferMessage(raw([5], 1, [int32Tensor('beam_width', [1, 1], [5])])));
  const error = await new Promise<{ code: number; details: string }>((resolve) => call.on('error', resolve).on('data', () => undefined));
  expect(error.code).toBe(13);
  expect(error.details).toMatch(/beam_width/);
});
