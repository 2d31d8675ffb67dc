/** The metrics port. Source: HTTPMetricsServer::Handle, src/http_server.cc (2.51); docs/observed.md#triton-2-51. */
import { allow, reply } from './exchange.ts';
import { listen, type Listening } from './listen.ts';
import { received } from './server.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Prometheus text of this moment. */
  readonly metricsText: () => string;
}

/** GET /metrics; any other path is 200 and empty (since 2.42), any other method 405. Errors: `listen-failed`. */
export function startMetricsServer(options: MetricsServerOptions): Promise<Listening> {
  return listen(options, async (request, response) => {
    const exchange = await received(request, response);
    if (exchange === undefined || !allow(exchange, ['GET'])) return;
    reply(exchange, 200, /^\/metrics\/?$/.test(exchange.path) ? options.metricsText() : '', 'text/plain; charset=utf-8');
  });
}
