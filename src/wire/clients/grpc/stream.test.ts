import type { ServerDuplexStream } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { LockstepError } from '#core/errors/index.ts';
import type { ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { int32Tensor, int32Values } from '#wire/protocol/tensors.ts';
import { grpcServer } from '../testing.ts';
import type { InferRequest } from '../types.ts';
import { grpcClient } from './index.ts';

const OPTIONS = { deadlineMs: 20_000 };

test('many requests in flight on one stream get their own messages, in order, and the stream ends with OK', async () => {
  await using server = await grpcServer({ ModelStreamInfer: interleaving });
  await using client = grpcClient(server.address);
  const stream = client.openStream(OPTIONS);
  const ids = Array.from({ length: 40 }, (_, i) => `request-${i}`);
  const answers = ids.map(async (id, i) => {
    const seen: number[] = [];
    for await (const message of stream.infer(counting(id, i + 1))) {
      expect(message.id).toBe(id);
      for (const output of message.outputs) seen.push(...int32Values(output.data));
    }
    return seen;
  });
  expect(await Promise.all(answers)).toEqual(ids.map((_, i) => Array.from({ length: i + 1 }, (_, n) => n)));
  stream.halfClose();
  expect((await stream.status).name).toBe('OK');
});

test('an id that is in flight is refused, and is free again after its answer', async () => {
  await using server = await grpcServer({ ModelStreamInfer: interleaving });
  await using client = grpcClient(server.address);
  await using stream = client.openStream(OPTIONS);
  const first = stream.infer(counting('a', 1));
  expect(() => stream.infer(counting('a', 1))).toThrow(LockstepError);
  for await (const _ of first);
  let messages = 0;
  for await (const _ of stream.infer(counting('a', 2))) messages++;
  expect(messages).toBe(2);
});

test('a stream that is over and is not ended counts as ended, and is told of, where ends get lost', async () => {
  await using server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
      // Every message, and never the end: as Triton 2.45 to 2.48 do now and then.
      call.on('data', (request: ModelInferRequest) => call.write(message(request.id, 1, true)));
    },
  });
  let lost = 0;
  await using client = grpcClient(server.address, undefined, () => void lost++);
  const stream = client.openStream(OPTIONS);
  void stream.send(counting('a', 1));
  void stream.send(counting('b', 1));
  stream.halfClose();
  let messages = 0;
  for await (const _ of stream.messages) messages++;
  expect({ messages, lost, status: (await stream.status).name }).toEqual({ messages: 2, lost: 1, status: 'OK' });
  await using strict = grpcClient(server.address);
  const waiting = strict.openStream({ deadlineMs: 1200 });
  void waiting.send(counting('a', 1));
  waiting.halfClose();
  expect((await waiting.status).name).toBe('DEADLINE_EXCEEDED');
});

test('a message with an id that nobody asked for goes to messages, not to a neighbour', async () => {
  await using server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
      call.on('data', (request: ModelInferRequest) => {
        call.write(message('stranger', 7, false));
        call.write(message(request.id, 1, true));
      });
      call.on('end', () => call.end());
    },
  });
  await using client = grpcClient(server.address);
  const stream = client.openStream(OPTIONS);
  const mine: string[] = [];
  for await (const m of stream.infer(counting('mine', 1))) mine.push(m.id);
  stream.halfClose();
  const others: string[] = [];
  for await (const m of stream.messages) others.push(m.id);
  expect({ mine, others }).toEqual({ mine: ['mine'], others: ['stranger'] });
});

test('a refusal inside the stream ends that request only', async () => {
  await using server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
      call.on('data', ({ id }: ModelInferRequest) => {
        if (id === 'bad') call.write({ error_message: "unexpected inference input 'ZZ' for model 'm'", infer_response: { id } });
        else call.write(message(id, 1, true));
      });
      call.on('end', () => call.end());
    },
  });
  await using client = grpcClient(server.address);
  await using stream = client.openStream(OPTIONS);
  const bad = [];
  for await (const m of stream.infer(counting('bad', 1))) bad.push({ error: m.errorMessage, final: m.final });
  expect(bad).toEqual([{ error: "unexpected inference input 'ZZ' for model 'm'", final: undefined }]);
  let good = 0;
  for await (const _ of stream.infer(counting('good', 1))) good++;
  expect(good).toBe(1);
});

test('cancelling a stream cancels all its requests on the server', async () => {
  const cancelled = Promise.withResolvers<number>();
  let requests = 0;
  await using server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
      call.on('data', ({ id }: ModelInferRequest) => {
        requests++;
        call.write(message(id, 0, false));
      });
      call.on('cancelled', () => cancelled.resolve(requests));
    },
  });
  await using client = grpcClient(server.address);
  const stream = client.openStream(OPTIONS);
  await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (id) => {
      for await (const _ of stream.infer(counting(id, 1))) break;
    }),
  );
  stream.cancel();
  expect(await cancelled.promise).toBe(4);
  expect((await stream.status).name).toBe('CANCELLED');
});

test('300 streams run at once against a server that admits 100 per connection', async () => {
  await using server = await grpcServer({ ModelStreamInfer: interleaving }, { 'grpc.max_concurrent_streams': 100 });
  await using client = grpcClient(server.address);
  const streams = Array.from({ length: 300 }, () => client.openStream(OPTIONS));
  // None ends before all have answered, so a queued stream would hang here.
  await Promise.all(
    streams.map(async (stream, i) => {
      for await (const m of stream.infer(counting(`s${i}`, 1))) expect(m.id).toBe(`s${i}`);
    }),
  );
  for (const stream of streams) stream.halfClose();
  expect(new Set((await Promise.all(streams.map((s) => s.status))).map((s) => s.name))).toEqual(new Set(['OK']));
});

test('status and messages agree when the status overtakes the last messages', async () => {
  await using server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
      call.on('data', ({ id }: ModelInferRequest) => {
        for (let n = 0; n < 2000; n++) call.write(message(id, n, n === 1999));
        call.end();
      });
    },
  });
  await using client = grpcClient(server.address);
  const stream = client.openStream(OPTIONS);
  void stream.send(counting('a', 1));
  await stream.status;
  let messages = 0;
  for await (const _ of stream.messages) messages++;
  expect(messages).toBe(2000);
});

/** Answers each request with as many messages as it asks for, one per turn, requests in turns. */
function interleaving(call: ServerDuplexStream<ModelInferRequest, object>): void {
  let pending = 0;
  let halfClosed = false;
  call.on('data', (request: ModelInferRequest) => {
    pending++;
    const count = int32Values(request.raw_input_contents[0] as Uint8Array)[0] as number;
    let n = 0;
    const step = (): void => {
      call.write(message(request.id, n, n === count - 1));
      if (++n < count) setImmediate(step);
      else if (--pending === 0 && halfClosed) call.end();
    };
    setImmediate(step);
  });
  call.on('end', () => {
    halfClosed = true;
    if (pending === 0) call.end();
  });
}

function counting(id: string, count: number): InferRequest {
  return { model: 'm', id, inputs: [int32Tensor('count', [1], [count])] };
}

function message(id: string, value: number, final: boolean): object {
  const { data } = int32Tensor('value', [1], [value]);
  return {
    infer_response: {
      id,
      model_name: 'm',
      model_version: '1',
      parameters: { triton_final_response: { bool_param: final } },
      outputs: [{ name: 'value', datatype: 'INT32', shape: ['1'] }],
      raw_output_contents: [data],
    },
  };
}
