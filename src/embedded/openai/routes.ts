/** Paths and methods. Source: python/openai/openai_frontend/frontend/fastapi/routers (r24.11 to main). */
import type { OpenAiProfile } from '#core/profile/index.ts';
import type { ModelIndexEntry } from '../core/types.ts';
import { httpException, reply, type Route } from '../fastapi/index.ts';
import { clientError } from './client-error.ts';
import { chatCompletions, completions, type Frontend } from './endpoints.ts';
import { loadModel, unloadModel } from './model-management.ts';
import { modelJson } from './model-table.ts';
import { validatedBody } from './request-body.ts';
import { embeddingRequest } from './request-schema.ts';

interface ReleaseRoute extends Route<Frontend> {
  /** Undefined: every release has it. */
  readonly since?: (profile: OpenAiProfile) => boolean;
}

const ROUTES: readonly ReleaseRoute[] = [
  {
    path: /^\/health\/ready$/,
    method: 'GET',
    handle: ({ core }, _request, _body, response) => {
      if (!core.ready() || core.repositoryIndex().some(isInTheWay))
        throw httpException(400, 'Attached inference engine is not ready for inference requests.');
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
  {
    since: (profile) => profile.modelManagement.value,
    path: /^\/v1\/models\/([^/]+)\/load$/,
    method: 'POST',
    handle: async (frontend, _request, _body, response, name) => reply(response, 200, await loadModel(frontend, name)),
  },
  {
    since: (profile) => profile.modelManagement.value,
    path: /^\/v1\/models\/([^/]+)\/unload$/,
    method: 'POST',
    handle: (frontend, _request, _body, response, name) => reply(response, 200, unloadModel(frontend, name)),
  },
  { path: /^\/v1\/completions$/, method: 'POST', handle: completions },
  { path: /^\/v1\/chat\/completions$/, method: 'POST', handle: chatCompletions },
  {
    since: (profile) => profile.embeddings.value,
    path: /^\/v1\/embeddings$/,
    method: 'POST',
    handle: ({ models }, request, body) => {
      const asked = validatedBody(embeddingRequest, request.headers, body);
      if (!models.has(asked.model)) throw clientError(`Unknown model: ${asked.model}`);
      throw clientError('TRT-LLM backend and Python backend do not support embedding requests');
    },
  },
];

/** The routes that a release has. */
export function routesOf(profile: OpenAiProfile): readonly Route<Frontend>[] {
  return ROUTES.filter(({ since }) => since?.(profile) ?? true);
}

/** A model that could not be loaded, or is still answering somebody after its unload, makes the whole server not ready. */
function isInTheWay({ state, reason }: ModelIndexEntry): boolean {
  return state === 'UNLOADING' || (state === 'UNAVAILABLE' && reason !== 'unloaded');
}
