import { type Metrics, parseMetrics } from '#wire/protocol/prometheus.ts';
import { absent } from './absent.ts';
import type { Access } from './access.ts';
import { type GrpcClient, grpcClient } from './grpc/index.ts';
import { HttpChannel, type HttpClient, httpClient } from './http/index.ts';
import { type OpenAiClient, openAiClient } from './openai/index.ts';

export type { CallStatus, GrpcClient, InferStream } from './grpc/index.ts';
export type { BodyEvent, EventStream, HttpAnswer, HttpClient, HttpEnding, HttpRequest } from './http/index.ts';
export { portNotServed } from './absent.ts';
export { secureContext } from './tls.ts';
export { type Access, grpcTarget, hostPort, httpBase, withoutSecrets } from './access.ts';
export { grpcClient } from './grpc/index.ts';
export { HttpChannel } from './http/index.ts';
export type * from './openai/index.ts';
export type * from './server-client.ts';
export type { CallEvent, CallTap } from './tap.ts';
export type * from './types.ts';
export { errorText as httpErrorText } from './http/index.ts';

/** Where a server listens; a target's endpoints have this shape. */
export interface ClientEndpoints {
  /** host:port, or grpcs://host:port; '' where only an OpenAI front end is known. */
  readonly grpc: string;
  /** host:port, or https://host:port; '' where only an OpenAI front end is known. */
  readonly http: string;
  /** As `http`, of the metrics port, where there is one. */
  readonly metrics: string | undefined;
  /** Base URL up to and without /v1, where there is an OpenAI front end. */
  readonly openai: string | undefined;
  /** Certificates and headers; absent: none. */
  readonly access?: Access | undefined;
}

/** Every way into one server. */
export interface Clients {
  readonly grpc: GrpcClient;
  readonly http: HttpClient;
  /** Reads the metrics port. Errors: `http-<status>`, `target-unreachable`, `deadline`, `interrupted`, `metrics-malformed`. */
  readonly metrics: ((options?: { readonly signal?: AbortSignal; readonly deadlineMs?: number }) => Promise<Metrics>) | undefined;
  readonly openai: OpenAiClient | undefined;
}

/** A metrics page is a few kilobytes; a server that needs longer than this is stuck. */
const METRICS_DEADLINE_MS = 10_000;

export interface ConnectOptions {
  /**
   * For servers that at times do not end a gRPC stream when everything on it was said: told of each, a moment after the last
   * final message, and the stream then counts as ended. Undefined: every end is waited for.
   */
  readonly onLostEnd?: (() => void) | undefined;
}

/** Nothing is connected before the first call. Disposing closes every connection, calls in flight included. */
export function connect(endpoints: ClientEndpoints, { onLostEnd }: ConnectOptions = {}): Clients & AsyncDisposable {
  const { access } = endpoints;
  const grpc = endpoints.grpc === '' ? absent<ReturnType<typeof grpcClient>>('gRPC') : grpcClient(endpoints.grpc, access, onLostEnd);
  const http = endpoints.http === '' ? absent<ReturnType<typeof httpClient>>('HTTP') : httpClient(endpoints.http, access);
  const metrics = endpoints.metrics === undefined ? undefined : new HttpChannel(endpoints.metrics, endpoints.access);
  const openai = endpoints.openai === undefined ? undefined : openAiClient(endpoints.openai, endpoints.access);
  return {
    grpc,
    http,
    metrics:
      metrics === undefined
        ? undefined
        : async (options = {}) => {
            const answer = await metrics.ok({ method: 'GET', path: '/metrics' }, { deadlineMs: METRICS_DEADLINE_MS, ...options });
            return parseMetrics(answer.body.toString('utf8'));
          },
    openai,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([grpc, http, metrics, openai].map(async (client) => client?.[Symbol.asyncDispose]()));
    },
  };
}
