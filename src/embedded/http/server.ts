/** Triton's HTTP/REST front end, as of 2.51, in front of a core. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TritonCore } from '../core/types.ts';
import { errorJson, type Exchange, reply, replyError } from './exchange.ts';
import { listen, type Listening, readBody } from './listen.ts';
import { route } from './router.ts';

export interface HttpServerOptions {
  readonly core: TritonCore;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Fault ids switched on (src/embedded/faults/front-ends.ts). */
  readonly faults?: ReadonlySet<string>;
}

/** From this size on a form-encoded body kills a real 2.51 server (docs/observed.md#triton-2-51). */
const DEADLY_FORM_BYTES = 4 * 1024 * 1024;

/** Errors: `listen-failed`. */
export function startHttpServer(options: HttpServerOptions): Promise<Listening> {
  const context = { core: options.core, faults: options.faults ?? new Set<string>(), generated: 0 };
  return listen(options, async (request, response) => {
    const arrived = await received(request, response);
    if (arrived === undefined) return;
    const exchange = { ...arrived, core: options.core.profile.core };
    if (
      exchange.body.length >= DEADLY_FORM_BYTES &&
      request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
    ) {
      reply(
        exchange,
        400,
        errorJson('form-encoded body of 4 MiB or more: a real server of this release crashes here; set Content-Type: application/json'),
      );
      return;
    }
    await route(context, exchange).catch((thrown: unknown) => {
      if (!response.headersSent) replyError(exchange, thrown);
      else response.destroy();
    });
  });
}

/** Undefined when the client went away while sending. */
export async function received(request: IncomingMessage, response: ServerResponse): Promise<Exchange | undefined> {
  try {
    const body = await readBody(request);
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    return { method: request.method ?? 'GET', path, request, body, response };
  } catch {
    return undefined;
  }
}
