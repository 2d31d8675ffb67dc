/** Answers with uvicorn's headers: date and server first, lower case. Source: docs/observed.md#openai-front-end-r25-12. */
import type { ServerResponse } from 'node:http';
import { wallClockMs } from '#core/clock/index.ts';
import { SSE_CONTENT_TYPE } from '#wire/protocol/sse.ts';

const added = new WeakMap<ServerResponse, Readonly<Record<string, string>>>();

/** Headers behind all others of whatever this request is answered with: what a middleware adds. */
export function addHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  added.set(response, headers);
}

const httptools = new WeakSet<ServerResponse>();

/** With httptools uvicorn frames in lower case, `connection` before `transfer-encoding`, and chunks for HTTP/1.0 too. */
export function framedByHttptools(response: ServerResponse): void {
  httptools.add(response);
}

/** @param chunked whether a body of chunks follows */
function writeHead(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, chunked = false): void {
  response.sendDate = false;
  const old = response.req.httpVersion === '1.0';
  const lower = httptools.has(response);
  const closing = response.req.headers.connection?.toLowerCase() === 'close' || old;
  if (!closing) response.removeHeader('Connection');
  const close = closing ? { [lower ? 'connection' : 'Connection']: 'close' } : {};
  const transfer = chunked && (lower || !old) ? { [lower ? 'transfer-encoding' : 'Transfer-Encoding']: 'chunked' } : {};
  // Python's word for it; Node has a newer one.
  if (status === 413) response.statusMessage = 'Request Entity Too Large';
  response.writeHead(status, {
    date: new Date(wallClockMs()).toUTCString(),
    server: 'uvicorn',
    ...headers,
    ...added.get(response),
    ...(lower ? { ...close, ...transfer } : { ...transfer, ...close }),
  });
}

export interface ReplyOptions {
  /** Null: no content-type at all, as for empty answers. */
  readonly type?: string | null;
  /** Before and after content-length and content-type. */
  readonly before?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string>>;
}

export function reply(response: ServerResponse, status: number, body: string, options: ReplyOptions = {}): void {
  const type = options.type === undefined ? 'application/json' : options.type;
  writeHead(response, status, {
    ...options.before,
    'content-length': String(Buffer.byteLength(body)),
    ...(type === null ? {} : { 'content-type': type }),
    ...options.after,
  });
  response.end(body);
}

/** Starts an event stream; with h11 HTTP/1.0 clients get it without chunks, ended by the close. */
export function startStream(response: ServerResponse): void {
  writeHead(response, 200, { 'content-type': SSE_CONTENT_TYPE }, true);
}

/** Closes the TCP connection after what was written, without the last chunk: how an error ends a stream that has begun. */
export function cutConnection(response: ServerResponse): void {
  response.socket?.end();
}
