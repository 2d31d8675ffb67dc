/**
 * Cross-origin rules of the front end: one origin, everything allowed.
 * Source: FastApiFrontend._add_cors_middleware (r25.12) and Starlette's CORSMiddleware; docs/observed.md#openai-front-end-r25-12.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { reply } from '../fastapi/index.ts';

/** The one origin whose scripts may read answers. */
const ALLOWED_ORIGIN = 'http://localhost';

/** True when the request was a preflight and is answered. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': headers } = request.headers;
  if (request.method !== 'OPTIONS' || origin === undefined || method === undefined) return false;
  const before = {
    vary: 'Origin',
    'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
    'access-control-max-age': '600',
    'access-control-allow-credentials': 'true',
    ...(origin === ALLOWED_ORIGIN ? { 'access-control-allow-origin': ALLOWED_ORIGIN } : {}),
    ...(headers === undefined ? {} : { 'access-control-allow-headers': headers }),
  };
  const type = 'text/plain; charset=utf-8';
  if (origin === ALLOWED_ORIGIN) reply(response, 200, 'OK', { type, before });
  else reply(response, 400, 'Disallowed CORS origin', { type, before });
  return true;
}

/** Headers added to every other answer to a request that names its origin. */
export function originHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const { origin } = request.headers;
  if (origin === undefined || request.headers['access-control-request-method'] !== undefined) return {};
  const credentials = { 'access-control-allow-credentials': 'true' };
  return origin === ALLOWED_ORIGIN ? { ...credentials, 'access-control-allow-origin': ALLOWED_ORIGIN, vary: 'Origin' } : credentials;
}
