import { Pool } from 'undici';
import { LockstepError } from '#core/errors/index.ts';
import { type Access, httpBase, OPEN, withoutSecrets } from '../access.ts';
import { secureContext } from '../tls.ts';
import type { CallOptions } from '../types.ts';
import { HttpExchange, type HttpHead, type HttpRequest } from './exchange.ts';
import { parseJson } from './json.ts';

export interface HttpAnswer extends HttpHead {
  readonly body: Buffer;
}

export const JSON_CONTENT: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

/** HTTP/1.1 to one origin: as many connections as there are requests in flight, none pipelined, none retried. */
export class HttpChannel implements AsyncDisposable {
  readonly origin: string;
  readonly #prefix: string;
  readonly #pool: Pool;
  readonly #access: Access;

  /** @param address host:port, or a URL whose path goes before every request's path */
  constructor(address: string, access: Access = OPEN) {
    this.#access = access;
    const url = new URL(httpBase(address));
    this.origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(url.origin, {
      connections: null,
      pipelining: 1,
      ...(url.protocol === 'https:' ? { connect: { secureContext: secureContext(access) } } : {}),
    });
  }

  open(request: HttpRequest, options: CallOptions): HttpExchange {
    const headers = { ...this.#access.headers, ...request.headers };
    return new HttpExchange(this.#pool, this.origin, { ...request, headers, path: this.#prefix + request.path }, options);
  }

  /** Any status is an answer. Errors: `target-unreachable`, `http-broken`, `deadline`, `interrupted`. */
  async answer(request: HttpRequest, options: CallOptions): Promise<HttpAnswer> {
    const exchange = this.open(request, options);
    const { status, headers } = await exchange.head;
    const parts: Buffer[] = [];
    for await (const chunk of exchange.chunks) parts.push(chunk);
    const body = Buffer.concat(parts);
    return { status, headers, body: status < 400 ? body : this.#withoutSecrets(body) };
  }

  #withoutSecrets(body: Buffer): Buffer {
    // One character per byte, so that all others stay as they came.
    return Object.keys(this.#access.headers).length === 0
      ? body
      : Buffer.from(withoutSecrets(body.toString('latin1'), this.#access), 'latin1');
  }

  /** An answer of 2xx. Errors: also `http-<status>` (context: status, details, address; details is the server's own text). */
  async ok(request: HttpRequest, options: CallOptions): Promise<HttpAnswer> {
    const answer = await this.answer(request, options);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw httpError(answer, `${request.method} ${request.path}`, this.origin);
  }

  /** The JSON body of a 2xx answer. Errors: also `response-malformed`. */
  async json<T>(request: HttpRequest, options: CallOptions): Promise<T> {
    return parseJson((await this.ok(request, options)).body.toString('utf8')) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}

/** The error for an answer that is not 2xx. */
export function httpError(answer: HttpAnswer, what: string, origin: string): LockstepError {
  const details = errorText(answer.body.toString('utf8'));
  return new LockstepError(
    `http-${answer.status}`,
    `${what} on ${origin} was answered with ${answer.status}: ${details || '(empty body)'}`,
    {
      hint:
        answer.status < 500
          ? 'Compare the request with the model metadata and the repository index.'
          : 'Read the details and the server log.',
      context: { status: answer.status, details, address: origin },
    },
  );
}

/** Triton says `{"error":text}`, the OpenAI front end `{"detail":text or list}`; anything else is given as it is. */
export function errorText(body: string): string {
  try {
    const { error, detail } = parseJson(body) as { error?: unknown; detail?: unknown };
    const text = error ?? detail;
    if (text !== undefined) return typeof text === 'string' ? text : JSON.stringify(text);
  } catch {
    // Not JSON.
  }
  return body;
}
