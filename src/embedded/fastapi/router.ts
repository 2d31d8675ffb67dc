/** Paths and methods. Source: Starlette's routing (405 with allow, 307 for a trailing slash). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpException } from './http-error.ts';
import { reply } from './reply.ts';

type Handler<App> = (app: App, request: IncomingMessage, body: Buffer, response: ServerResponse, name: string) => void | Promise<void>;

export interface Route<App> {
  /** The first group is the name that the handler gets. */
  readonly path: RegExp;
  readonly method: 'GET' | 'POST';
  readonly handle: Handler<App>;
}

/** Errors: HttpError 404, and whatever the handler throws. */
export async function route<App>(
  routes: readonly Route<App>[],
  app: App,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const [rawPath = '/', ...query] = (request.url ?? '/').split('?');
  const path = decoded(rawPath);
  const [first, ...others] = routes.filter((candidate) => candidate.path.test(path));
  if (first !== undefined) {
    const found = [first, ...others].find(({ method }) => method === request.method);
    if (found !== undefined) return found.handle(app, request, body, response, found.path.exec(path)?.[1] ?? '');
    return reply(response, 405, '{"detail":"Method Not Allowed"}', { before: { allow: first.method } });
  }
  const other = path.endsWith('/') ? path.replace(/\/+$/, '') : `${path}/`;
  if (path !== '/' && routes.some((candidate) => candidate.path.test(other))) {
    const location = `http://${request.headers.host ?? ''}${other}${query.length > 0 ? `?${query.join('?')}` : ''}`;
    return reply(response, 307, '', { type: null, after: { location } });
  }
  throw httpException(404, 'Not Found');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
