/** The embedded engine and the Python model that a real tritonserver runs are written apart: what they agree on is no mistake of one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY } from '#core/config/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { type Clients, connect, type InferMessage } from '#wire/clients/index.ts';
import { decodeBytesElements, fp32Values, int32Values, type Tensor } from '#wire/protocol/tensors.ts';
import { startEmbeddedTarget } from '../embedded/index.ts';
import type { Target } from '../types.ts';
import { startTritonServer } from './index.ts';
import { TWIN_REQUESTS, type TwinRequest, UNARY_TWIN_REQUESTS } from './twin-requests.ts';
import { unaryRepository } from './unary-repository.ts';

const DEADLINE_MS = 10_000;
/** Float64 on both sides, float32 on the wire: half a step of float32 below 2^6, twice. */
const FP32_DIGITS = 4;

interface Side {
  readonly target: Target;
  readonly clients: Clients & AsyncDisposable;
}

const TABLES = [
  {
    policy: 'with the decoupled policy',
    requests: TWIN_REQUESTS,
    repositoryOf: () => ({ path: MODEL_REPOSITORY, [Symbol.dispose]: () => undefined }),
  },
  { policy: 'without the decoupled policy', requests: UNARY_TWIN_REQUESTS, repositoryOf: unaryRepository },
];

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1').each(TABLES)(
  'the embedded engine and its Python twin, $policy',
  ({ requests, repositoryOf }) => {
    let repository: ReturnType<typeof repositoryOf>;
    let sides: readonly [Side, Side];

    beforeAll(async () => {
      repository = repositoryOf();
      const { path } = repository;
      const side = (target: Target): Side => ({ target, clients: connect({ ...target.endpoints, metrics: undefined, openai: undefined }) });
      sides = [
        side(await startEmbeddedTarget({ server: { ...EMBEDDED_DEFAULTS, repository: path } })),
        side(await startTritonServer({ repository: path })),
      ];
    }, 900_000);
    afterAll(async () => {
      for (const { clients, target } of sides) {
        await clients[Symbol.asyncDispose]();
        await target.stop();
      }
      repository[Symbol.dispose]();
    }, 30_000);

    test.each(requests.map((r) => [r.name, r] as const))('%s', { timeout: 60_000 }, async (_, request) => {
      const [embedded, twin] = await Promise.all(sides.map(({ clients }) => answers(clients, request)));
      const errors = embedded!.flatMap((m) => m.error ?? []);
      expect(errors.map((text) => request.refused?.test(text))).toEqual(request.refused === undefined ? [] : [true]);
      expect(embedded!.some((m) => m.texts.length > 0 || (m.whole['output_ids'] ?? []).length > 0)).toBe(request.refused === undefined);
      expect(twin!.map(({ numbers: __, ...rest }) => rest)).toEqual(embedded!.map(({ numbers: __, ...rest }) => rest));
      for (const [i, message] of embedded!.entries()) {
        for (const [k, value] of message.numbers.entries()) expect(twin![i]!.numbers[k]).toBeCloseTo(value, FP32_DIGITS);
      }
    });
  },
);

interface Answer {
  /** Which sub-request: `<batch_index>/<sequence_index>`. */
  readonly part: string;
  readonly error: string | undefined;
  readonly whole: Readonly<Record<string, readonly number[]>>;
  readonly texts: readonly string[];
  readonly shapes: readonly string[];
  readonly numbers: readonly number[];
}

/** All messages, those of one sub-request in their order; how sub-requests take turns is each server's own. */
async function answers(clients: Clients, request: TwinRequest): Promise<Answer[]> {
  await using stream = clients.grpc.openStream({ deadlineMs: DEADLINE_MS });
  await stream.send({ model: request.model ?? 'tensorrt_llm', id: '', inputs: request.inputs });
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
    texts: outputs
      .filter((o) => o.datatype === 'BYTES')
      .flatMap((o) => decodeBytesElements(o.data).map((text) => Buffer.from(text).toString())),
    shapes: outputs.map((o) => `${o.name} ${o.datatype} [${o.shape.join()}]`),
    numbers: outputs.filter((o) => o.datatype === 'FP32' && !TIMES.test(o.name)).flatMap((o: Tensor) => [...fp32Values(o.data)]),
  };
}
