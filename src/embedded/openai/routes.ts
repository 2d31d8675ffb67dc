/**
 * Paths and methods. Source: python/openai/openai_frontend/frontend/fastapi/routers (r25.12) and Starlette's routing
 * (405 with allow, 307 for a trailing slash).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { chatCompletions, completions, type Frontend } from './endpoints.ts';
import { clientError, httpException } from './http-error.ts';
import { modelJson } from './model-table.ts';
import { reply } from './reply.ts';
import { validatedBody } from './request-body.ts';
import { embeddingRequest } from './request-schema.ts';

type Handler = (frontend: Frontend, request: IncomingMessage, body: Buffer, response: ServerResponse, name: string) => void | Promise<void>;

interface Route {
  readonly path: RegExp;
  readonly method: 'GET' | 'POST';
  readonly handle: Handler;
}

const ROUTES: readonly Route[] = [
  {
    path: /^\/health\/ready$/,
    method: 'GET',
    handle: ({ core }, _request, _body, response) => {
      if (!core.ready()) throw httpException(400, 'Attached inference engine is not ready for inference requests.');
      reply(response, 200, '', { type: null });
    },
  },
  {
    path: /^\/metrics$/,
    method: 'GET',
    handle: ({ core }, _request, _body, response) => reply(response, 200, core.metricsText(), { type: 'text/plain; charset=utf-8' }),
  },
  {
    path: /^\/v1\/models$/,
    method: 'GET',
    handle: ({ models }, _request, _body, response) =>
      reply(response, 200, JSON.stringify({ object: 'list', data: [...models.values()].map(modelJson) })),
  },
  {
    path: /^\/v1\/models\/([^/]+)$/,
    method: 'GET',
    handle: ({ models }, _request, _body, response, name) => {
      const model = models.get(name);
      if (model === undefined) throw httpException(404, `Unknown model: ${name}`);
      reply(response, 200, JSON.stringify(modelJson(model)));
    },
  },
  { path: /^\/v1\/completions$/, method: 'POST', handle: completions },
  { path: /^\/v1\/chat\/completions$/, method: 'POST', handle: chatCompletions },
  {
    path: /^\/v1\/embeddings$/,
    method: 'POST',
    handle: ({ models }, request, body) => {
      const asked = validatedBody(embeddingRequest, request.headers, body);
      if (!models.has(asked.model)) throw clientError(`Unknown model: ${asked.model}`);
      throw clientError('TRT-LLM backend and Python backend do not support embedding requests');
    },
  },
];

export async function route(frontend: Frontend, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const [rawPath = '/', ...query] = (request.url ?? '/').split('?');
  const path = decoded(rawPath);
  const found = ROUTES.find((candidate) => candidate.path.test(path));
  if (found !== undefined) {
    if (request.method === found.method) return found.handle(frontend, request, body, response, found.path.exec(path)?.[1] ?? '');
    return reply(response, 405, '{"detail":"Method Not Allowed"}', { before: { allow: found.method } });
  }
  const other = path.endsWith('/') ? path.replace(/\/+$/, '') : `${path}/`;
  if (path !== '/' && ROUTES.some((candidate) => candidate.path.test(other))) {
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
