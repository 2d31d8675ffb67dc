import { fileURLToPath } from 'node:url';
import { type ClientDuplexStream, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { wallClock } from '#core/clock/index.ts';
import { profileOf } from '#core/profile/index.ts';
import type { ModelStreamInferResponse } from '#wire/protocol/grpc-messages.ts';
import { GrpcInferenceClient, UNLIMITED_MESSAGES } from '#wire/protocol/service.ts';
import { boolTensor, bytesTensor, decodeBytesElements, int32Tensor, int32Values, type Tensor } from '#wire/protocol/tensors.ts';
import { createTritonCore, type TritonCore } from '../core/index.ts';
import { createScriptedEngine, type Engine, type Script } from '../engine/index.ts';
import { stockModels } from '../models/index.ts';
import { startGrpcServer } from './server.ts';

export const REPOSITORY = fileURLToPath(new URL('../../../docker/models', import.meta.url));
export const EMPTY_FINAL = { triton_enable_empty_final_response: { bool_param: true } };
export const STREAMING = boolTensor('streaming', [1, 1], [true]);

export interface LabOptions {
  readonly profile?: string;
  readonly faults?: readonly string[];
  readonly script?: (promptIds: Int32Array) => Script;
  readonly stepMs?: number;
  /** In place of the scripted engine; closed with the lab. */
  readonly engine?: Engine;
}

export interface Infer {
  readonly model: string;
  readonly inputs: readonly Tensor[];
  readonly id?: string;
  readonly version?: string;
  readonly outputs?: readonly string[];
  readonly parameters?: object;
}

/** One message of a stream, flattened for expectations. */
export interface Message {
  readonly error: string;
  readonly id: string;
  readonly model: string;
  readonly version: string;
  readonly final: boolean | undefined;
  readonly parameters: readonly string[];
  readonly outputs: Readonly<Record<string, readonly [datatype: string, shape: string, values: readonly (number | string)[]]>>;
}

/** A gRPC server over the stock repository with a scripted engine or another, and plain grpc-js to talk to it. */
export class GrpcLab implements AsyncDisposable {
  readonly core: TritonCore;
  readonly engine: Engine;
  // grpc-js builds its methods at run time.
  readonly client: any;
  readonly #close: () => Promise<void>;

  private constructor(core: TritonCore, engine: Engine, port: number, close: () => Promise<void>) {
    this.core = core;
    this.engine = engine;
    this.client = new GrpcInferenceClient(`127.0.0.1:${port}`, credentials.createInsecure(), UNLIMITED_MESSAGES);
    this.#close = close;
  }

  static async start(options: LabOptions = {}): Promise<GrpcLab> {
    const profile = profileOf(options.profile ?? 'default');
    const faults = new Set(options.faults);
    const { script, stepMs = 0 } = options;
    const scripted = () =>
      createScriptedEngine({ stepMs, ...(script === undefined ? {} : { script: (request) => script(request.promptIds) }) });
    const engine = options.engine ?? scripted();
    const core = createTritonCore({
      repository: REPOSITORY,
      profile,
      faults,
      factory: stockModels({ engine, profile, faults }),
      onClose: () => engine.close(),
    });
    const server = await startGrpcServer({ core, host: '127.0.0.1', port: 0, faults });
    return new GrpcLab(core, engine, server.port, async () => {
      await server.close(50);
      await core.close();
    });
  }

  /** Unary call: the reply, or code and details. */
  call(rpc: string, request: object): Promise<any> {
    const { promise, resolve } = Promise.withResolvers<any>();
    this.client[rpc](request, { deadline: Date.parse(wallClock()) + 5000 }, (error: ServiceError | null, reply: unknown) => {
      resolve(error === null ? reply : { code: status[error.code], details: error.details });
    });
    return promise;
  }

  open(deadlineMs = 5000): ClientDuplexStream<unknown, ModelStreamInferResponse> {
    return this.client.ModelStreamInfer({ deadline: Date.parse(wallClock()) + deadlineMs });
  }

  /** Sends all requests on one stream, half-closes, and reads to the end. */
  async stream(...requests: readonly Infer[]): Promise<Message[]> {
    const call = this.open();
    for (const request of requests) call.write(inferMessage(request));
    call.end();
    const messages: Message[] = [];
    for await (const message of call) messages.push(flatten(message));
    return messages;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.#close();
  }
}

export function inferMessage(r: Infer): object {
  return {
    model_name: r.model,
    model_version: r.version ?? '',
    id: r.id ?? '',
    parameters: r.parameters ?? {},
    inputs: r.inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    outputs: (r.outputs ?? []).map((name) => ({ name })),
    raw_input_contents: r.inputs.map((t) => t.data),
  };
}

export function flatten(m: ModelStreamInferResponse): Message {
  const r = m.infer_response;
  return {
    error: m.error_message,
    id: r?.id ?? '',
    model: r?.model_name ?? '',
    version: r?.model_version ?? '',
    final: r?.parameters['triton_final_response']?.bool_param,
    parameters: Object.keys(r?.parameters ?? {}).sort(),
    outputs: Object.fromEntries(
      (r?.outputs ?? []).map((o, i) => [
        o.name,
        [o.datatype, o.shape.join(), valuesOf(o.datatype, r?.raw_output_contents[i] ?? new Uint8Array())],
      ]),
    ),
  };
}

export function valuesOf(datatype: string, data: Uint8Array): (number | string)[] {
  if (datatype === 'BYTES') return decodeBytesElements(data).map((b) => Buffer.from(b).toString('utf8'));
  if (datatype === 'INT32') return [...int32Values(data)];
  return Array.from({ length: data.length / 4 }, (_, i) => Buffer.from(data).readFloatLE(i * 4));
}

export function raw(ids: readonly number[], maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer {
  const inputs = [
    int32Tensor('input_ids', [1, ids.length], ids),
    int32Tensor('input_lengths', [1, 1], [ids.length]),
    int32Tensor('request_output_len', [1, 1], [maxTokens]),
    ...more,
  ];
  return { model: 'tensorrt_llm', inputs, ...rest };
}

export function ensemble(text: string, maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer {
  return {
    model: 'ensemble',
    inputs: [bytesTensor('text_input', [1, 1], [text]), int32Tensor('max_tokens', [1, 1], [maxTokens]), ...more],
    ...rest,
  };
}

export function preprocessing(texts: readonly (string | Uint8Array)[], more: readonly Tensor[] = []): Infer {
  const { length } = texts;
  return {
    model: 'preprocessing',
    inputs: [
      bytesTensor('QUERY', [length, 1], texts),
      int32Tensor(
        'REQUEST_OUTPUT_LEN',
        [length, 1],
        texts.map(() => 7),
      ),
      ...more,
    ],
  };
}

export function postprocessing(
  shape: readonly number[],
  ids: readonly number[],
  lengthShape: readonly number[],
  lengths: readonly number[],
): Infer {
  return {
    model: 'postprocessing',
    inputs: [int32Tensor('TOKENS_BATCH', shape, ids), int32Tensor('SEQUENCE_LENGTH', lengthShape, lengths)],
  };
}

export const stream = boolTensor('stream', [1, 1], [true]);
