import type { Dispatcher, Pool } from 'undici';
import { LockstepError } from '#core/errors/index.ts';
import { Arrivals } from '../arrivals.ts';
import type { CallTap } from '../tap.ts';
import type { CallOptions } from '../types.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names in lower case. With a body, content-type is always set: the default of some clients crashes Triton (docs/observed.md#crashes). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** How an exchange ended, as this side of the connection saw it. */
export type HttpEnding =
  /** The body ended as its framing (content-length, last chunk, close) says. */
  | { readonly kind: 'complete' }
  /** `close()` or a reader that left. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'deadline'; readonly error: LockstepError }
  | { readonly kind: 'interrupted'; readonly error: LockstepError }
  /** No connection (`target-unreachable`), or the connection or the framing broke (`http-broken`). */
  | { readonly kind: 'broken'; readonly error: LockstepError };

/**
 * One HTTP request and its answer, with the ending kept. Closing it, leaving `chunks` early, the deadline and the
 * signal destroy the connection, which is how a server learns that the client is gone.
 *
 * Errors of `head` and `chunks`: `target-unreachable`, `http-broken`, `deadline`, `interrupted`, `closed`.
 */
export class HttpExchange implements AsyncDisposable {
  /** Resolves when the request was handed to the socket, or when the exchange ended before. */
  readonly sent: Promise<void>;
  readonly head: Promise<HttpHead>;
  /** Body as it arrived, one item per read. */
  readonly chunks: AsyncIterableIterator<Buffer, undefined>;
  /** Never rejects. */
  readonly ending: Promise<HttpEnding>;
  readonly #what: string;
  readonly #sent = Promise.withResolvers<void>();
  readonly #head = Promise.withResolvers<HttpHead>();
  readonly #ending = Promise.withResolvers<HttpEnding>();
  readonly #chunks = new Arrivals<Buffer>(() => this.close());
  readonly #cleanUp: () => void;
  readonly #tap: CallTap | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;

  constructor(pool: Pool, origin: string, request: HttpRequest, options: CallOptions) {
    this.#what = `${request.method} ${request.path} on ${origin}`;
    this.sent = this.#sent.promise;
    this.head = this.#head.promise;
    this.chunks = this.#chunks;
    this.ending = this.#ending.promise;
    // Whoever reads only the ending must not be told of an unhandled rejection.
    this.head.catch(() => {});

    this.#tap = options.tap?.();
    const { signal } = options;
    const onAbort = (): void => {
      const error = new LockstepError('interrupted', `stopped while waiting for ${this.#what}`, { cause: signal?.reason });
      this.#end({ kind: 'interrupted', error });
    };
    const timer = setTimeout(() => {
      const error = new LockstepError('deadline', `waited ${options.deadlineMs} ms for ${this.#what}, in vain`, {
        hint: 'Raise the deadline, or look at the server for a request that is stuck.',
      });
      this.#end({ kind: 'deadline', error });
    }, options.deadlineMs);
    this.#cleanUp = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    if (signal?.aborted) {
      onAbort();
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#tellRequest(request, origin);
    pool.dispatch(
      {
        path: request.path,
        method: request.method,
        headers: { ...request.headers },
        body: request.body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this.#handler(origin),
    );
  }

  /** Destroys the connection, unless the exchange is over. */
  close(): void {
    this.#end({ kind: 'closed' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.ending;
  }

  #handler(origin: string): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        this.#controller = controller;
        if (this.#ended) controller.abort(new Error('closed before it was sent'));
      },
      onRequestSent: () => this.#sent.resolve(),
      onResponseStart: (_controller, status, headers) => {
        this.#tap?.({ kind: 'response', status, headers: pairs(headers) });
        this.#head.resolve({ status, headers });
      },
      onResponseData: (_controller, chunk) => {
        this.#tap?.({ kind: 'body', from: 'server', bytes: chunk });
        this.#chunks.push(chunk);
      },
      onResponseEnd: () => this.#end({ kind: 'complete' }),
      onResponseError: (_controller, error) => this.#end({ kind: 'broken', error: transportError(error, this.#what, origin) }),
    };
  }

  #tellRequest({ method, path, headers = {}, body }: HttpRequest, origin: string): void {
    if (this.#tap === undefined) return;
    const bytes = Buffer.from(body ?? '');
    const length: [string, string][] = bytes.length === 0 ? [] : [['content-length', String(bytes.length)]];
    this.#tap({ kind: 'request', method, path, headers: [['host', new URL(origin).host], ...pairs(headers), ...length] });
    if (bytes.length > 0) this.#tap({ kind: 'body', from: 'client', bytes });
    this.#tap({ kind: 'end', from: 'client' });
  }

  #end(ending: HttpEnding): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cleanUp();
    if (ending.kind === 'complete') this.#tap?.({ kind: 'end', from: 'server' });
    else this.#tap?.({ kind: 'close', from: ending.kind === 'broken' ? 'server' : 'client' });
    const error =
      ending.kind === 'complete'
        ? undefined
        : ending.kind === 'closed'
          ? new LockstepError('closed', `${this.#what} was closed by this client`)
          : ending.error;
    if (ending.kind !== 'complete') this.#controller?.abort(new Error(ending.kind));
    this.#sent.resolve();
    this.#head.reject(error);
    this.#chunks.end(ending.kind === 'closed' ? undefined : error);
    this.#ending.resolve(ending);
  }
}

function pairs(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
}

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function transportError(error: Error & { readonly code?: string }, what: string, origin: string): LockstepError {
  const context = { address: origin, cause: `${error.code ?? error.name}: ${error.message}` };
  if (error.code !== undefined && NO_CONNECTION.has(error.code)) {
    return new LockstepError('target-unreachable', `nothing answers HTTP at ${origin}: ${error.message}`, {
      hint: `Check that the server runs and that ${origin} is its HTTP port (8000 by default).`,
      context,
      cause: error,
    });
  }
  return new LockstepError('http-broken', `${what} broke off: ${error.message}`, {
    hint: 'Check that the server is alive; the connection or the chunked framing ended before the body did.',
    context,
    cause: error,
  });
}
