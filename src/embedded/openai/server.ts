/** NVIDIA's OpenAI-compatible front end, as of r25.12, in front of a core. */
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { TritonCore } from '../core/types.ts';
import { listen, type Listening, readBody } from '../http/index.ts';
import { answerPreflight } from './cors.ts';
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
  /** Fault ids switched on (src/embedded/faults/front-ends.ts). */
  readonly faults?: ReadonlySet<string>;
}

/** What uvicorn with h11 says to something that is no HTTP (docs/observed.md#openai-front-end-r25-12). */
const MALFORMED =
  'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nInvalid HTTP request received.';

/** Idle connections are closed after 5 s, as uvicorn does. Errors: `listen-failed`. */
export function startOpenAiServer(options: OpenAiServerOptions): Promise<Listening> {
  const frontend: Frontend = {
    core: options.core,
    tokenizer: options.tokenizer,
    models: modelTable(options.core),
    faults: options.faults ?? new Set<string>(),
  };
  return listen(
    { host: options.host, port: options.port, http: { keepAliveTimeout: 5000 }, malformedAnswer: MALFORMED },
    async (request, response) => {
      if (request.headers.host === undefined && request.httpVersion === '1.1') {
        request.socket.end(MALFORMED);
        return;
      }
      let body: Buffer;
      try {
        body = await readBody(request);
      } catch {
        return; // the client went away while sending
      }
      try {
        if (!answerPreflight(request, response)) await route(frontend, request, body, response);
      } catch (thrown) {
        const error =
          thrown instanceof HttpError
            ? thrown
            : new HttpError(500, JSON.stringify({ detail: thrown instanceof Error ? thrown.message : String(thrown) }));
        if (response.headersSent) response.destroy();
        else reply(response, error.status, error.body, { type: error.type });
      }
    },
  );
}
