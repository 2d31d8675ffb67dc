/** NVIDIA's OpenAI-compatible front end, as of r25.12, in front of a core. */
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { TritonCore } from '../core/types.ts';
import { listen, type Listening, readBody } from '../http/index.ts';
import type { Frontend } from './endpoints.ts';
import { HttpError } from './http-error.ts';
import { modelTable } from './model-table.ts';
import { reply } from './reply.ts';
import { route } from './routes.ts';

export interface OpenAiServerOptions {
  /** Its models must be loaded: the front end lists them once, at the start. */
  readonly core: TritonCore;
  readonly tokenizer: Tokenizer | undefined;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Fault ids switched on (src/embedded/faults/openai.ts). */
  readonly faults?: ReadonlySet<string>;
}

/** Idle connections are closed after 5 s, as uvicorn does. Errors: `listen-failed`. */
export function startOpenAiServer(options: OpenAiServerOptions): Promise<Listening> {
  const frontend: Frontend = {
    core: options.core,
    tokenizer: options.tokenizer,
    models: modelTable(options.core),
    faults: options.faults ?? new Set<string>(),
  };
  return listen({ host: options.host, port: options.port, http: { keepAliveTimeout: 5000 } }, async (request, response) => {
    let body: Buffer;
    try {
      body = await readBody(request);
    } catch {
      return; // the client went away while sending
    }
    try {
      await route(frontend, request, body, response);
    } catch (thrown) {
      const error =
        thrown instanceof HttpError
          ? thrown
          : new HttpError(500, JSON.stringify({ detail: thrown instanceof Error ? thrown.message : String(thrown) }));
      if (response.headersSent) response.destroy();
      else reply(response, error.status, error.body, { type: error.type });
    }
  });
}
