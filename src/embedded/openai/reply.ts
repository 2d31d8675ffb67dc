/** Answers with uvicorn's headers: date and server first, lower case. Source: docs/observed.md#openai-front-end-r25-12. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SSE_CONTENT_TYPE } from '#wire/protocol/sse.ts';
import { unixMs } from './uuid1.ts';

function writeHead(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): void {
  response.sendDate = false;
  const closing = response.req.headers.connection?.toLowerCase() === 'close' || response.req.httpVersion === '1.0';
  if (!closing) response.removeHeader('Connection');
  response.writeHead(status, {
    date: new Date(unixMs()).toUTCString(),
    server: 'uvicorn',
    ...headers,
    ...originHeaders(response.req),
    ...(closing ? { Connection: 'close' } : {}),
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

/** Starts an event stream; HTTP/1.0 clients get it without chunks, ended by the close. */
export function startStream(response: ServerResponse): void {
  const chunked = response.req.httpVersion === '1.0' ? {} : { 'Transfer-Encoding': 'chunked' };
  writeHead(response, 200, { 'content-type': SSE_CONTENT_TYPE, ...chunked });
}

/** The one origin whose scripts may read answers. */
export const ALLOWED_ORIGIN = 'http://localhost';

/** Headers added to every other answer to a request that names its origin. */
function originHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const { origin } = request.headers;
  if (origin === undefined || request.headers['access-control-request-method'] !== undefined) return {};
  const credentials = { 'access-control-allow-credentials': 'true' };
  return origin === ALLOWED_ORIGIN ? { ...credentials, 'access-control-allow-origin': ALLOWED_ORIGIN, vary: 'Origin' } : credentials;
}
