/** The embedded engine and the Python model that a real tritonserver runs are written apart: what they agree on is no mistake of one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY } from '#core/config/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { type Clients, connect, type InferMessage } from '#wire/clients/index.ts';
import { fp32Values, int32Values, type Tensor } from '#wire/protocol/tensors.ts';
import { startEmbeddedTarget } from '../embedded/index.ts';
import type { Target } from '../types.ts';
import { startTritonServer } from './index.ts';
import { TWIN_REQUESTS, type TwinRequest } from './twin-requests.ts';

const DEADLINE_MS = 10_000;
/** Float64 on both sides, float32 on the wire: half a step of float32 below 2^6, twice. */
const FP32_DIGITS = 4;

interface Side {
  readonly target: Target;
  readonly clients: Clients & AsyncDisposable;
}

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('the embedded engine and its Python twin', { timeout: 60_000 }, () => {
  let sides: readonly [Side, Side];

  beforeAll(async () => {
    const side = (target: Target): Side => ({ target, clients: connect({ ...target.endpoints, metrics: undefined, openai: undefined }) });
    sides = [
      side(await startEmbeddedTarget({ server: EMBEDDED_DEFAULTS })),
      side(await startTritonServer({ repository: MODEL_REPOSITORY })),
    ];
  }, 900_000);
  afterAll(async () => {
    for (const { clients, target } of sides) {
      await clients[Symbol.asyncDispose]();
      await target.stop();
    }
  }, 30_000);

  test.each(TWIN_REQUESTS.map((r) => [r.name, r] as const))('%s', async (_, request) => {
    const [embedded, twin] = await Promise.all(sides.map(({ clients }) => answers(clients, request)));
    const errors = embedded!.flatMap((m) => m.error ?? []);
    expect(errors.map((text) => request.refused?.test(text))).toEqual(request.refused === undefined ? [] : [true]);
    expect(embedded!.some((m) => (m.whole['output_ids'] ?? []).length > 0)).toBe(request.refused === undefined);
    expect(twin!.map(({ numbers: __, ...rest }) => rest)).toEqual(embedded!.map(({ numbers: __, ...rest }) => rest));
    for (const [i, message] of embedded!.entries()) {
      for (const [k, value] of message.numbers.entries()) expect(twin![i]!.numbers[k]).toBeCloseTo(value, FP32_DIGITS);
    }
  });
});

interface Answer {
  /** Which sub-request: `<batch_index>/<sequence_index>`. */
  readonly part: string;
  readonly error: string | undefined;
  readonly whole: Readonly<Record<string, readonly number[]>>;
  readonly shapes: readonly string[];
  readonly numbers: readonly number[];
}

/** All messages, those of one sub-request in their order; how sub-requests take turns is each server's own. */
async function answers(clients: Clients, request: TwinRequest): Promise<Answer[]> {
  await using stream = clients.grpc.openStream({ deadlineMs: DEADLINE_MS });
  await stream.send({ model: 'tensorrt_llm', id: '', inputs: request.inputs });
  stream.halfClose();
  const found: Answer[] = [];
  for await (const message of stream.messages) found.push(answerOf(message));
  return found.toSorted((a, b) => (a.part < b.part ? -1 : a.part > b.part ? 1 : 0));
}

/** Names of outputs whose values are times: only their presence and shape can be compared. */
const TIMES = /_time_ns$/;

function answerOf(message: InferMessage): Answer {
  const outputs = message.outputs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const ints = outputs.filter((o) => o.datatype === 'INT32');
  const whole = Object.fromEntries(ints.map((o) => [o.name, [...int32Values(o.data)]]));
  return {
    part: `${whole['batch_index']?.[0] ?? 0}/${whole['sequence_index']?.[0] ?? 0}`,
    error: message.errorMessage?.replace(/requestId \d+/, 'requestId'),
    whole,
    shapes: outputs.map((o) => `${o.name} ${o.datatype} [${o.shape.join()}]`),
    numbers: outputs.filter((o) => o.datatype === 'FP32' && !TIMES.test(o.name)).flatMap((o: Tensor) => [...fp32Values(o.data)]),
  };
}
