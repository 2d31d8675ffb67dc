/** NVIDIA's OpenAI-compatible front end, as of r25.12, in front of a core. */
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { TritonCore } from '../core/types.ts';
import { addHeaders, httpException, route, serveApp } from '../fastapi/index.ts';
import type { Listening } from '../http/index.ts';
import { answerPreflight, originHeaders } from './cors.ts';
import type { Frontend } from './endpoints.ts';
import { modelTable } from './model-table.ts';
import { ROUTES } from './routes.ts';

export interface OpenAiServerOptions {
  /** Its models must be loaded: the front end lists them once, at the start. */
  readonly core: TritonCore;
  readonly tokenizer: Tokenizer | undefined;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Fault ids switched on (src/embedded/faults/front-ends.ts). */
  readonly faults?: ReadonlySet<string>;
}

/** Errors: `listen-failed`. */
export function startOpenAiServer(options: OpenAiServerOptions): Promise<Listening> {
  const frontend: Frontend = {
    core: options.core,
    tokenizer: options.tokenizer,
    models: modelTable(options.core),
    faults: options.faults ?? new Set<string>(),
  };
  const unexpected = (thrown: unknown) => httpException(500, thrown instanceof Error ? thrown.message : String(thrown));
  return serveApp({ host: options.host, port: options.port, unexpected }, async (request, body, response) => {
    addHeaders(response, originHeaders(request));
    if (!answerPreflight(request, response)) await route(ROUTES, frontend, request, body, response);
  });
}
