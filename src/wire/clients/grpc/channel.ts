import { type ChannelCredentials, Client, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { wallClockMs } from '#core/clock/index.ts';
import { UNLIMITED_MESSAGES } from '#wire/protocol/service.ts';
import { type Access, grpcMetadata, grpcTarget } from '../access.ts';
import type { CallOptions } from '../types.ts';
import { callStatus, interrupted, statusError } from './status.ts';
import { tappedMethod, watchCall } from './tapped.ts';

/** One RPC: its path and its codec. proto-loader's method definitions have this shape. */
export interface Method<Req, Res> {
  readonly path: string;
  readonly requestSerialize: (request: Req) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Res;
}

/** Calls per connection: servers may announce SETTINGS_MAX_CONCURRENT_STREAMS 100, the least that RFC 9113 recommends, and the excess would queue in silence. */
const CALLS_PER_CONNECTION = 100;

const OPTIONS = {
  ...UNLIMITED_MESSAGES,
  // Otherwise every channel to the same address shares one connection.
  'grpc.use_local_subchannel_pool': 1,
  // grpc-js backs off up to 120 s after a refused connection; a target that starts up is asked again at once.
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 250,
  // As NVIDIA's Python client: no retry may hide a failure.
  'grpc.enable_retries': 0,
  // Without a buffer for retries a write is reported when it was written, not when it was queued (lib/retrying-call.ts).
  'grpc.per_rpc_retry_buffer_size': 0,
} as const;

interface Connection {
  readonly client: Client;
  calls: number;
}

/**
 * gRPC to one address (host:port, or grpcs://host:port for TLS). Connections open when needed, one per 100 calls in flight; messages have no
 * size limit. Every status reaches the caller as it came.
 */
export class GrpcChannel implements AsyncDisposable {
  readonly address: string;
  readonly access: Access | undefined;
  /** Told of a stream whose end did not come; undefined: every end is waited for. See InferStream. */
  readonly onLostEnd: (() => void) | undefined;
  readonly #connections: Connection[] = [];
  readonly #inFlight = new Set<{ cancel(): void }>();
  readonly #credentials: ChannelCredentials;

  constructor(address: string, access?: Access, onLostEnd?: () => void) {
    this.onLostEnd = onLostEnd;
    const target = grpcTarget(address, access);
    this.address = target.address;
    this.#credentials = target.credentials;
    this.access = access;
  }

  /**
   * One unary call.
   *
   * Errors: `grpc-<status-name>` and `target-unreachable` (context: status, code, details, address, method; the cause
   * has the trailers), `interrupted` (the signal aborted; the server sees a cancel).
   */
  call<Req, Res>(method: Method<Req, Res>, request: Req, options: CallOptions): Promise<Res> {
    const where = { method: method.path, address: this.address };
    if (options.signal?.aborted) return Promise.reject(interrupted(where, options.signal));
    const { promise, resolve, reject } = Promise.withResolvers<Res>();
    const connection = this.#take();
    const onAbort = (): void => call.cancel();
    const call = connection.client.makeUnaryRequest<Req, Res>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      grpcMetadata(this.access),
      { deadline: deadlineIn(options.deadlineMs) },
      (error: ServiceError | null, response?: Res) => {
        connection.calls--;
        this.#inFlight.delete(call);
        options.signal?.removeEventListener('abort', onAbort);
        if (error === null) resolve(response as Res);
        else if (options.signal?.aborted) reject(interrupted(where, options.signal));
        else reject(statusError(callStatus(error, this.access), where, error));
      },
    );
    this.#inFlight.add(call);
    options.signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }

  /** A raw call that streams both ways; the caller listens to `data`, `end`, `error` and `status`, and cancels. */
  open<Req, Res>(rpc: Method<Req, Res>, options: Pick<CallOptions, 'deadlineMs' | 'tap'>): ClientDuplexStream<Req, Res> {
    const tap = options.tap?.();
    const method = tap === undefined ? rpc : tappedMethod(rpc, tap);
    const metadata = grpcMetadata(this.access);
    const connection = this.#take();
    const call = connection.client.makeBidiStreamRequest<Req, Res>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      metadata,
      { deadline: deadlineIn(options.deadlineMs) },
    );
    if (tap !== undefined) watchCall(call as never, tap, { path: method.path, metadata, address: this.address });
    this.#inFlight.add(call);
    call.once('status', () => {
      connection.calls--;
      this.#inFlight.delete(call);
    });
    return call;
  }

  /** Cancels what is in flight: grpc-js would let it run on. */
  [Symbol.asyncDispose](): Promise<void> {
    for (const call of this.#inFlight) call.cancel();
    for (const connection of this.#connections.splice(0)) connection.client.close();
    return Promise.resolve();
  }

  #take(): Connection {
    let connection = this.#connections.find((c) => c.calls < CALLS_PER_CONNECTION);
    if (connection === undefined) {
      connection = { client: new Client(this.address, this.#credentials, OPTIONS), calls: 0 };
      this.#connections.push(connection);
    }
    connection.calls++;
    return connection;
  }
}

/** grpc-js takes a deadline as a moment of the wall clock in milliseconds. */
function deadlineIn(ms: number): number {
  return wallClockMs() + ms;
}
