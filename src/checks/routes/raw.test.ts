import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { countFlag, FLAG, idsOfEvent } from '#core/transcript/index.ts';
import { grpcServer } from '#wire/clients/testing.ts';
import type { ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { fp32Tensor, int32Tensor, int32Values, type Tensor } from '#wire/protocol/tensors.ts';
import { ROUTES } from './index.ts';
import { caseOn, contextOf, TOKENIZER } from './testing.ts';

const OPTIONS = { deadlineMs: 10_000 };
const VOCABULARY = 4;

test('ids, lengths, log-probabilities, margins, counts and flags of an answer that ends at EOS', async () => {
  await using server = await streaming((send) => {
    send({ ids: [5], logProbs: [-0.5], cum: -0.5, logits: [1, 4, 2, 0], outputTokens: 1 });
    send({ ids: [6, 7], logProbs: [-1, -2], cum: -3.5, logits: [3, 3, 0, 0, 0, 0, 0, 9], outputTokens: 2 });
    send({ ids: [], cum: -3.5, logits: [0, 1, 2, 3], outputTokens: 0, final: true });
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, { ...OPTIONS, logProbs: true, margins: true });
  expect(t).toMatchObject({
    ending: 'complete',
    errors: [],
    foreignIds: [],
    events: 3,
    cumLogProb: -3.5,
    usage: { promptTokens: 6, completionTokens: 3 },
  });
  expect([...t.ids]).toEqual([5, 6, 7]);
  expect([...idsOfEvent(t, 1)]).toEqual([6, 7]);
  expect([...t.sequenceLengths]).toEqual([1, 2, 0]);
  expect([...t.logProbs]).toEqual([-0.5, -1, -2]);
  expect([...t.margins]).toEqual([2, 0, 9, 1]);
  expect([...t.runnerUps]).toEqual([2, 1, 0, 2]);
  expect([...(t.promptIds ?? [])]).toEqual(TOKENIZER.encode('Hello', { addSpecialTokens: true }));
  expect(countFlag(t, FLAG.data)).toBe(3);
  expect([...t.flags].map((f) => f & FLAG.final)).toEqual([0, 0, FLAG.final]);
});

test('ids are cut at sequence_length and at the padding', async () => {
  await using server = await streaming((send) => {
    send({ ids: [5, 6, 7], length: 2 });
    send({ ids: [8, -1, -1], length: 9, final: true });
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, OPTIONS);
  expect([...t.ids]).toEqual([5, 6, 8]);
  expect([...t.sequenceLengths]).toEqual([2, 9]);
});

test('an error in band and a message after the final one are both seen', async () => {
  await using server = await streaming((send, call, id) => {
    send({ ids: [5], final: true });
    call.write({ error_message: 'Executor failed', infer_response: { id } });
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, OPTIONS);
  expect(t.errors).toEqual([{ event: 1, code: 'in-band', message: 'Executor failed' }]);
  expect([...t.flags]).toEqual([FLAG.data | FLAG.final, FLAG.error]);
  expect(t.ending).toBe('complete');
});

test('an id that is not ours is kept as evidence', async () => {
  await using server = await streaming((send) => {
    send({ ids: [5], id: 'somebody-else' });
    send({ ids: [6], final: true });
  });
  await using context = contextOf({ grpc: server.address });
  expect((await ROUTES.raw.run(caseOn('raw'), context, OPTIONS)).foreignIds).toEqual(['somebody-else']);
});

test('a tensor that does not fit its shape is an error of the event, not of the run', async () => {
  await using server = await streaming((_, call, id) => {
    call.write(response(id, [{ ...int32Tensor('output_ids', [1, 1, 2], [5]) }], true));
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, OPTIONS);
  expect(t.errors[0]).toMatchObject({ event: 0, code: 'malformed' });
});

test('an error status is broken, with the code of the transport', async () => {
  await using server = await streaming((send, call) => {
    send({ ids: [5] });
    call.emit('error', { code: status.INTERNAL, details: 'boom' });
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, OPTIONS);
  expect(t).toMatchObject({ ending: 'broken', events: 1, errors: [{ event: -1, code: 'INTERNAL', message: 'boom' }] });
});

test('a server that is gone is in the transcript, with what was tried', async () => {
  await using context = contextOf({});
  const t = await ROUTES.raw.run(caseOn('raw', { mode: 'unary' }), context, OPTIONS);
  expect(t).toMatchObject({ ending: 'broken', events: 0, errors: [{ event: -1, code: 'UNAVAILABLE' }] });
});

test('a hang ends with our own deadline', async () => {
  await using server = await grpcServer({ ModelStreamInfer: () => {} });
  await using context = contextOf({ grpc: server.address });
  expect((await ROUTES.raw.run(caseOn('raw'), context, { deadlineMs: 150 })).ending).toBe('deadline');
});

test('an abort rejects with interrupted', async () => {
  await using server = await grpcServer({ ModelStreamInfer: () => {} });
  await using context = contextOf({ grpc: server.address });
  await expect(ROUTES.raw.run(caseOn('raw'), context, { ...OPTIONS, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
    code: 'interrupted',
  });
});

test.each([0, 2])('leaving after %i events cancels on the server', async (afterEvents) => {
  const cancelled = Promise.withResolvers<void>();
  let requests = 0;
  await using server = await streaming((send, call) => {
    requests++;
    call.on('cancelled', () => cancelled.resolve());
    if (afterEvents === 0) return 'open';
    for (let i = 0; i < afterEvents; i++) send({ ids: [i] });
    return 'open';
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, { ...OPTIONS, cancel: { how: 'leave', afterEvents } });
  expect(t).toMatchObject({ ending: 'cancelled', events: afterEvents, errors: [] });
  await cancelled.promise;
  expect(requests).toBe(1);
});

test('a deadline on purpose is a cancellation', async () => {
  await using server = await streaming((send) => {
    send({ ids: [5] });
    return 'open';
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, { ...OPTIONS, cancel: { how: 'deadline', ms: 150 } });
  expect(t).toMatchObject({ ending: 'cancelled', events: 1, errors: [] });
});

test('the stop tensor goes out on a stream of its own with the same id, and the answer is read to its end', async () => {
  const seen: { id: string; inputs: Record<string, unknown> }[] = [];
  let finish: (() => void) | undefined;
  await using server = await streaming((send, call, id, request) => {
    const inputs = Object.fromEntries(
      request.inputs.map((input, i) => [
        input.name,
        [
          input.shape.map(Number),
          input.datatype === 'INT32'
            ? [...int32Values(request.raw_input_contents[i] as Uint8Array)]
            : [...(request.raw_input_contents[i] as Uint8Array)],
        ],
      ]),
    );
    seen.push({ id, inputs });
    if ('stop' in inputs) {
      call.write(response(id, [], true));
      finish?.();
      return 'close';
    }
    send({ ids: [5] });
    finish = () => {
      send({ ids: [], final: true });
      call.end();
    };
    return 'open';
  });
  await using context = contextOf({ grpc: server.address });
  const t = await ROUTES.raw.run(caseOn('raw'), context, { ...OPTIONS, cancel: { how: 'stop-tensor', afterEvents: 1 } });
  expect(t).toMatchObject({ ending: 'complete', events: 2, errors: [] });
  expect(seen[1]?.id).toBe(seen[0]?.id);
  expect(seen[1]?.inputs).toEqual({
    input_ids: [[1, 1], [1]],
    input_lengths: [[1, 1], [0]],
    request_output_len: [[1, 1], [0]],
    stop: [[1, 1], [1]],
  });
});

test('a unary case asks the model config once and uses ModelInfer where the model is not decoupled', async () => {
  let configs = 0;
  await using server = await grpcServer({
    ModelConfig: (_: unknown, answer: sendUnaryData<object>) => {
      configs++;
      answer(null, { config: { name: 'tensorrt_llm', model_transaction_policy: { decoupled: false } } });
    },
    ModelInfer: (call: ServerUnaryCall<ModelInferRequest, object>, answer: sendUnaryData<object>) => {
      answer(null, response(call.request.id, tensors({ ids: [5, 6] }), undefined).infer_response);
    },
  });
  await using context = contextOf({ grpc: server.address });
  const c = caseOn('raw', { mode: 'unary' });
  const [first, second] = [await ROUTES.raw.run(c, context, OPTIONS), await ROUTES.raw.run(c, context, OPTIONS)];
  expect([...first.ids, ...second.ids]).toEqual([5, 6, 5, 6]);
  expect(first).toMatchObject({ ending: 'complete', events: 1 });
  expect(configs).toBe(1);
});

test('a case for another route, and a cancellation the route does not have, are our own mistakes', async () => {
  await using context = contextOf({});
  await expect(ROUTES.raw.run(caseOn('ensemble'), context, OPTIONS)).rejects.toMatchObject({ code: 'case-not-carriable' });
  await expect(
    ROUTES.ensemble.run(caseOn('ensemble'), context, { ...OPTIONS, cancel: { how: 'stop-tensor', afterEvents: 0 } }),
  ).rejects.toMatchObject({ code: 'cancel-not-carriable' });
});

interface Part {
  readonly ids: readonly number[];
  readonly length?: number;
  readonly logProbs?: readonly number[];
  readonly cum?: number;
  readonly logits?: readonly number[];
  readonly outputTokens?: number;
  readonly final?: boolean;
  readonly id?: string;
}

type Script = (
  send: (part: Part) => void,
  call: ServerDuplexStream<ModelInferRequest, object>,
  id: string,
  request: ModelInferRequest,
) => 'open' | 'close' | void;

function streaming(script: Script) {
  return grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
      call.on('data', (request: ModelInferRequest) => {
        const send = (part: Part): boolean => call.write(response(part.id ?? request.id, tensors(part), part.final ?? false));
        if (script(send, call, request.id, request) !== 'open') call.end();
      });
    },
  });
}

function tensors(part: Part): Tensor[] {
  const n = part.ids.length;
  const out = [int32Tensor('output_ids', [1, 1, n], part.ids), int32Tensor('sequence_length', [1, 1], [part.length ?? n])];
  if (part.logProbs !== undefined) out.push(fp32Tensor('output_log_probs', [1, 1, part.logProbs.length], part.logProbs));
  if (part.cum !== undefined) out.push(fp32Tensor('cum_log_probs', [1, 1], [part.cum]));
  if (part.logits !== undefined)
    out.push(fp32Tensor('generation_logits', [1, 1, part.logits.length / VOCABULARY, VOCABULARY], part.logits));
  if (part.outputTokens !== undefined)
    out.push(int32Tensor('num_input_tokens', [1, 1], [6]), int32Tensor('num_output_tokens', [1, 1], [part.outputTokens]));
  return out;
}

function response(id: string, outputs: readonly Tensor[], final: boolean | undefined) {
  return {
    infer_response: {
      id,
      model_name: 'tensorrt_llm',
      model_version: '1',
      parameters: final === undefined ? {} : { triton_final_response: { bool_param: final } },
      outputs: outputs.map(({ name, datatype, shape }) => ({ name, datatype, shape: shape.map(String) })),
      raw_output_contents: outputs.map((o) => o.data),
    },
  };
}
