/** One HTTP request with its body read, and the ways to answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CoreProfile } from '#core/profile/index.ts';
import { writeJson } from '#wire/protocol/json-writer.ts';
import { CoreError, type CoreErrorCode } from '../core/types.ts';

export interface Exchange {
  readonly method: string;
  /** Without the query; never percent-decoded, as in Triton. */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
  /** The release that the front end belongs to; absent on the metrics port. */
  readonly core?: CoreProfile;
}

export const JSON_TYPE = 'application/json';
/** What libevhtp writes when the handler names no type. */
export const DEFAULT_TYPE = 'text/plain';

/** Since 2.42. Source: HttpCodeFromError in src/http_server.cc; docs/observed.md#triton-2-51. */
const STATUS: Readonly<Record<CoreErrorCode, number>> = {
  INTERNAL: 500,
  NOT_FOUND: 404,
  UNAVAILABLE: 503,
  UNSUPPORTED: 501,
  UNKNOWN: 400,
  INVALID_ARG: 400,
  ALREADY_EXISTS: 400,
  CANCELLED: 400,
};

function httpStatus(error: CoreError): number {
  return STATUS[error.code];
}

export function errorJson(message: string): Buffer {
  return writeJson(new Map([['error', message]]));
}

/**
 * A whole answer with Content-Length. Without a type: text/plain, after the length, as libevhtp adds both. The order of
 * the headers is that of a real 2.51 server.
 */
export function reply(
  exchange: Exchange,
  status: number,
  body: Uint8Array | string = '',
  type: string = DEFAULT_TYPE,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  const { response } = exchange;
  const given = type === DEFAULT_TYPE ? headers : { 'Content-Type': type, ...headers };
  const length = { 'Content-Length': String(bytes.byteLength) };
  const close = bareHeaders(response);
  const tail = type === DEFAULT_TYPE ? { 'Content-Type': type } : {};
  const ordered = bytes.byteLength === 0 ? { ...given, ...close, ...length, ...tail } : { ...given, ...length, ...close, ...tail };
  response.writeHead(status, status === 405 ? 'Not Allowed' : undefined, ordered);
  response.end(bytes);
}

export function replyError(
  exchange: Exchange,
  error: unknown,
  type: string = DEFAULT_TYPE,
  headers: Readonly<Record<string, string>> = {},
): void {
  const known = error instanceof CoreError ? error : new CoreError('INTERNAL', error instanceof Error ? error.message : String(error));
  reply(exchange, exchange.core?.httpStatusByCode.value === false ? 400 : httpStatus(known), errorJson(known.message), type, headers);
}

export function replyJson(exchange: Exchange, value: unknown): void {
  reply(exchange, 200, JSON.stringify(value), JSON_TYPE);
}

/** False, and the request answered with 405, when the method is none of these. */
export function allow(exchange: Exchange, methods: readonly string[], type: string = DEFAULT_TYPE): boolean {
  if (methods.includes(exchange.method)) return true;
  reply(exchange, 405, errorJson('Method Not Allowed'), type);
  return false;
}

/**
 * Triton sends neither Date nor Keep-Alive, and Connection only to a client that asked to close. Returns that header.
 */
export function bareHeaders(response: ServerResponse): Readonly<Record<string, string>> {
  response.sendDate = false;
  if (response.req.headers.connection?.toLowerCase() === 'close') return { Connection: 'close' };
  response.removeHeader('Connection');
  return {};
}

/** Runs `work` and answers what it throws. */
export async function answering(exchange: Exchange, type: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    replyError(exchange, thrown, type);
  }
}
