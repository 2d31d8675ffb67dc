/** Paths and methods. Source: python/openai/openai_frontend/frontend/fastapi/routers (r25.12). */
import { httpException, reply, type Route } from '../fastapi/index.ts';
import { clientError } from './client-error.ts';
import { chatCompletions, completions, type Frontend } from './endpoints.ts';
import { modelJson } from './model-table.ts';
import { validatedBody } from './request-body.ts';
import { embeddingRequest } from './request-schema.ts';

export const ROUTES: readonly Route<Frontend>[] = [
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
