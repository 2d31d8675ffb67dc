/** Paths and methods. Source: register_routes, tensorrt_llm/serve/openai_server.py; docs/observed.md#trtllm-serve. */
import type { ServerResponse } from 'node:http';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import type { JsonObject, JsonValue } from '#wire/protocol/json-value.ts';
import { reply, type Route } from '../fastapi/index.ts';
import { RequestFailure } from './bad-request.ts';
import { chatAsked, chatCompletions, completions, wholeAnswer } from './endpoints.ts';
import { createdNow } from './ids.ts';
import { openApi } from './open-api.ts';
import { chatSchema } from './request-schema.ts';
import type { ServeApp } from './serve-app.ts';

const json = (response: ServerResponse, value: unknown): void => reply(response, 200, JSON.stringify(value));
/** The two clocks of a worker and of who asks it are compared; it takes its time. */
const CLOCK_GAP_MS = 200;

export const ROUTES: readonly Route<ServeApp>[] = [
  { path: /^\/health$/, method: 'GET', handle: (_app, _request, _body, response) => reply(response, 200, '', { type: null }) },
  { path: /^\/health_generate$/, method: 'GET', handle: (app, _request, _body, response) => healthGenerate(app, response) },
  { path: /^\/version$/, method: 'GET', handle: (app, _request, _body, response) => json(response, { version: app.facts.version.value }) },
  {
    path: /^\/v1\/models$/,
    method: 'GET',
    handle: (app, _request, _body, response) =>
      json(response, { object: 'list', data: [{ id: app.model, object: 'model', created: createdNow(), owned_by: 'tensorrt_llm' }] }),
  },
  // The three are filled by settings of the LLM API that are off by default.
  { path: /^\/metrics$/, method: 'GET', handle: (_app, _request, _body, response) => json(response, []) },
  { path: /^\/perf_metrics$/, method: 'GET', handle: (_app, _request, _body, response) => json(response, []) },
  { path: /^\/kv_cache_events$/, method: 'POST', handle: (_app, _request, _body, response) => json(response, []) },
  {
    path: /^\/steady_clock_offset$/,
    method: 'GET',
    handle: async (_app, _request, _body, response) => {
      const receive_ts = nowNs() / 1e9;
      await sleep(CLOCK_GAP_MS);
      json(response, { receive_ts, transmit_ts: nowNs() / 1e9 });
    },
  },
  {
    path: /^\/steady_clock_offset$/,
    method: 'POST',
    handle: (_app, _request, _body, response) => reply(response, 200, '', { type: null }),
  },
  { path: /^\/v1\/completions$/, method: 'POST', handle: completions },
  { path: /^\/v1\/chat\/completions$/, method: 'POST', handle: chatCompletions },
  { path: /^\/openapi\.json$/, method: 'GET', handle: (_app, _request, _body, response) => json(response, openApi(ROUTES)) },
];

/** One token of an answer to "hi", at temperature 0. */
async function healthGenerate(app: ServeApp, response: ServerResponse): Promise<void> {
  try {
    const request = chatSchema(app.facts).check(healthRequest(app.model), []);
    if (!request.ok) throw new RequestFailure('the request of the health check is refused');
    await wholeAnswer(app, chatAsked(app, request.value), response);
    reply(response, 200, 'Generation health check OK', { type: null });
  } catch (thrown) {
    reply(response, 500, `Generation health check failed: ${(thrown as Error).message}`, { type: null });
  }
}

const healthRequest = (model: string): JsonObject =>
  new Map<string, JsonValue>([
    [
      'messages',
      [
        new Map([
          ['role', 'user'],
          ['content', 'hi'],
        ]),
      ],
    ],
    ['model', model],
    ['max_tokens', 1n],
    ['temperature', 0],
  ]);
