/**
 * Plain access to both protocols for conformance: grpc-js and node:http as they come, without the project's own clients,
 * so that a mistake in a client cannot hide one in a server, and so that anything can be sent, right or wrong.
 */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import {
  type ClientDuplexStream,
  Metadata,
  type ServiceError,
  credentials,
  loadPackageDefinition,
  makeGenericClientConstructor,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { Lab } from '#checks/lab/lab.ts';
import { wallClockMs } from '#core/clock/index.ts';
import { portNotServed } from '#wire/clients/index.ts';
import type { Tensor } from '#wire/protocol/tensors.ts';

const definition = loadSync(join(import.meta.dirname, '../../proto/grpc_service.proto'), {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
  includeDirs: [join(import.meta.dirname, '../../proto')],
});
const service = (loadPackageDefinition(definition) as any).inference.GRPCInferenceService.service;
const GenericClient = makeGenericClientConstructor(service, 'inference.GRPCInferenceService', {});

export interface RpcReply {
  readonly code: string;
  readonly details: string;
  readonly body: any;
}

export interface StreamMessage {
  readonly error: string;
  readonly id: string;
  readonly model: string;
  readonly version: string;
  readonly outputs: readonly { name: string; datatype: string; shape: number[] }[];
  readonly raw: readonly Uint8Array[];
  readonly final: boolean | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface StreamReply {
  readonly messages: readonly StreamMessage[];
  readonly code: string;
  readonly details: string;
}

/** How long the end of a stream may take after the last message, where ends get lost. */
const LOST_END_MS = 1000;

/** The addresses of a target and how one gets in. */
export type Where = Lab['parts']['endpoints'];
/** Of an HTTP port, whichever of a target's it is. */
export type HttpWhere = { readonly http: string } & Partial<Pick<Where, 'access'>>;

export class PlainGrpc implements Disposable {
  readonly #client: any;

  readonly #headers: Readonly<Record<string, string>>;

  readonly #onLostEnd: (() => void) | undefined;

  /** `onLostEnd`: a release may not end a stream that is over; told of each, and the stream counts as ended. */
  constructor({ grpc, access }: Where, onLostEnd?: () => void) {
    this.#onLostEnd = onLostEnd;
    if (grpc === '') throw portNotServed('gRPC');
    this.#headers = access?.headers ?? {};
    const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
    const secured = grpc.startsWith('grpcs://');
    const tls = secured ? credentials.createSsl(pem(access?.ca), pem(access?.key), pem(access?.cert)) : credentials.createInsecure();
    this.#client = new GenericClient(grpc.replace('grpcs://', ''), tls, {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  call(rpc: string, body: unknown, deadlineMs = 10_000, signal?: AbortSignal): Promise<RpcReply> {
    const { promise, resolve } = Promise.withResolvers<RpcReply>();
    const options = { deadline: wallClockMs() + deadlineMs };
    const call = this.#client[rpc](body, this.#metadata(), options, (error: ServiceError | null, reply: unknown) => {
      resolve(
        error === null
          ? { code: 'OK', details: '', body: reply }
          : { code: status[error.code] as string, details: error.details, body: undefined },
      );
    });
    signal?.addEventListener('abort', () => call.cancel(), { once: true });
    return promise;
  }

  /** Sends all requests at once, half-closes, and gives everything that came back. */
  stream(requests: readonly unknown[], deadlineMs = 10_000, metadata: Readonly<Record<string, string>> = {}): Promise<StreamReply> {
    return this.open(requests, deadlineMs, metadata).reply;
  }

  /** As `stream`; `begun` resolves with the first message, or with the end of a stream that sent none. */
  open(
    requests: readonly unknown[],
    deadlineMs = 10_000,
    metadata: Readonly<Record<string, string>> = {},
  ): { readonly begun: Promise<void>; readonly reply: Promise<StreamReply>; readonly cancel: () => void } {
    const call = this.#client.ModelStreamInfer(this.#metadata(metadata), { deadline: wallClockMs() + deadlineMs }) as ClientDuplexStream<
      any,
      any
    >;
    const begun = Promise.withResolvers<void>();
    const reply = Promise.withResolvers<StreamReply>();
    const messages: StreamMessage[] = [];
    let unfinished = requests.length;
    let endTimer: NodeJS.Timeout | undefined;
    const endLost = (): void => {
      this.#onLostEnd?.();
      reply.resolve({ messages, code: 'OK', details: '' });
      begun.resolve();
      call.cancel();
    };
    call.on('data', (m) => {
      const message = flatten(m);
      messages.push(message);
      begun.resolve();
      if (message.final === true || (message.error !== '' && message.final === undefined)) unfinished--;
      if (unfinished <= 0 && this.#onLostEnd !== undefined) endTimer ??= setTimeout(endLost, LOST_END_MS);
    });
    call.on('error', () => {});
    call.on('status', (s) => {
      clearTimeout(endTimer);
      // What came is held to what was expected; only the end is not.
      if (s.code === status.DEADLINE_EXCEEDED && this.#onLostEnd !== undefined) return endLost();
      reply.resolve({ messages, code: status[s.code] as string, details: s.details });
      begun.resolve();
    });
    for (const r of requests) call.write(r);
    call.end();
    return { begun: begun.promise, reply: reply.promise, cancel: () => call.cancel() };
  }

  #metadata(more: Readonly<Record<string, string>> = {}): Metadata {
    const sent = new Metadata();
    for (const [key, value] of Object.entries({ ...this.#headers, ...more })) sent.set(key, value);
    return sent;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function flatten(m: any): StreamMessage {
  const r = m.infer_response ?? {};
  const parameters: Record<string, unknown> = {};
  for (const [key, value] of Object.entries<any>(r.parameters ?? {})) parameters[key] = value[value.parameter_choice];
  return {
    error: m.error_message ?? '',
    id: r.id ?? '',
    model: r.model_name ?? '',
    version: r.model_version ?? '',
    outputs: (r.outputs ?? []).map((o: any) => ({ name: o.name, datatype: o.datatype, shape: o.shape.map(Number) })),
    raw: r.raw_output_contents ?? [],
    final: parameters['triton_final_response'] as boolean | undefined,
    parameters,
  };
}

export interface Infer {
  readonly model: string;
  readonly inputs: readonly Tensor[];
  readonly id?: string;
  readonly version?: string;
  readonly outputs?: readonly string[];
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Sends no raw contents at all. */
  readonly noData?: boolean;
}

/** A ModelInferRequest as proto-loader takes it. */
export function inferMessage(r: Infer): unknown {
  return {
    model_name: r.model,
    model_version: r.version ?? '',
    id: r.id ?? '',
    parameters: r.parameters ?? {},
    inputs: r.inputs.map((t) => ({ name: t.name, datatype: t.datatype, shape: t.shape })),
    outputs: (r.outputs ?? []).map((name) => ({ name })),
    raw_input_contents: r.noData ? [] : r.inputs.map((t) => t.data),
  };
}

export interface HttpReply {
  readonly status: number;
  readonly type: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly text: string;
  /** False when the connection ended before the body was complete. */
  readonly complete: boolean;
}

export interface HttpCall {
  readonly method?: string;
  readonly path: string;
  readonly body?: string | Uint8Array | object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  /** Closes the connection. */
  readonly signal?: AbortSignal;
}

/** The OpenAI front end of a target as `http` takes it. */
export function openAiOf({ openai, access }: Where): HttpWhere {
  return { http: openai ?? '', access };
}

/** One exchange on a connection of its own. Rejects only when no reply came at all. */
export function http({ http: address, access }: HttpWhere, call: HttpCall): Promise<HttpReply> {
  if (address === '') return Promise.reject(portNotServed('HTTP'));
  const url = new URL(address.includes('://') ? address : `http://${address}`);
  const { promise, resolve, reject } = Promise.withResolvers<HttpReply>();
  const json = typeof call.body === 'object' && !(call.body instanceof Uint8Array);
  const payload = call.body === undefined ? undefined : json ? JSON.stringify(call.body) : (call.body as string | Uint8Array);
  const out = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    ...(url.protocol === 'https:' ? { ca: access?.ca, cert: access?.cert, key: access?.key } : {}),
    path: url.pathname.replace(/\/$/, '') + call.path,
    method: call.method ?? (payload === undefined ? 'GET' : 'POST'),
    agent: false,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload as string) }),
      ...access?.headers,
      ...call.headers,
    },
    timeout: call.deadlineMs ?? 10_000,
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  out.on('timeout', () => out.destroy(new Error(`no reply to ${call.path} within ${call.deadlineMs ?? 10_000} ms`)));
  out.on('error', reject);
  out.on('response', (res) => {
    const parts: Buffer[] = [];
    const finish = (complete: boolean) => {
      const body = Buffer.concat(parts);
      resolve({
        status: res.statusCode ?? 0,
        type: res.headers['content-type'],
        headers: res.headers,
        body,
        text: body.toString('utf8'),
        complete,
      });
    };
    res.on('data', (c: Buffer) => parts.push(c));
    res.on('end', () => finish(res.complete));
    res.on('error', () => finish(false));
    res.on('close', () => finish(res.complete));
  });
  out.end(payload);
  return promise;
}
