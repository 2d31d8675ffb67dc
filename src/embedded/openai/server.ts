/** NVIDIA's OpenAI-compatible front end, as of the core's release profile, in front of that core. */
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { TritonCore } from '../core/types.ts';
import { addHeaders, type AppOptions, httpException, route, serveApp } from '../fastapi/index.ts';
import type { Listening } from '../http/index.ts';
import { boundedBody } from './bounded-body.ts';
import { answerPreflight, originHeaders } from './cors.ts';
import type { Frontend } from './endpoints.ts';
import { modelTable } from './model-table.ts';
import { requestSchemas } from './request-schema.ts';
import { mustBeAllowed } from './restricted.ts';
import { routesOf } from './routes.ts';
import type { FrontEndSettings } from './settings.ts';

export interface OpenAiServerOptions {
  /** Its models must be loaded: the front end lists them once, at the start. */
  readonly core: TritonCore;
  readonly tokenizer: Tokenizer | undefined;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Fault ids switched on (src/embedded/faults/front-ends.ts). */
  readonly faults?: ReadonlySet<string>;
  readonly settings?: FrontEndSettings;
}

/** Errors: `listen-failed`. */
export function startOpenAiServer(options: OpenAiServerOptions): Promise<Listening> {
  const profile = options.core.profile.openai;
  const { settings = {} } = options;
  const { value: defaultLimit } = profile.maxInputBytes;
  const limit = defaultLimit === undefined ? Infinity : (settings.maxInputBytes ?? defaultLimit);
  const frontend: Frontend = {
    core: options.core,
    tokenizer: options.tokenizer,
    models: modelTable(options.core),
    settings,
    schemas: requestSchemas(profile),
    routes: routesOf(profile),
    faults: options.faults ?? new Set<string>(),
  };
  const status = profile.serverFailureStatus.value;
  const app: AppOptions = {
    host: options.host,
    port: options.port,
    parser: profile.httpParser.value,
    readBody: (request) => boundedBody(request, limit),
    unexpected: (thrown) => httpException(status, thrown instanceof Error ? thrown.message : String(thrown)),
  };
  return serveApp(app, async (request, body, response) => {
    mustBeAllowed(settings.restricted ?? [], profile, request);
    addHeaders(response, originHeaders(request));
    if (!answerPreflight(request, response)) await route(frontend.routes, frontend, request, body, response);
  });
}
