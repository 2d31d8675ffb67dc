/** A node:http server that belongs to the embedded server: bound, and closed without cutting answers short. */
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenFailed } from '#core/errors/listen-failed.ts';

export interface Listening extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /**
   * Refuses new connections at once, as real servers do, waits for running answers and drops whatever is left after
   * `graceMs` (default 5000).
   */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly http?: ServerOptions;
  /** Bytes sent before the connection is closed over something that is no HTTP; '' = closed without a word, as libevhtp does. */
  readonly malformedAnswer?: () => string;
}

/** Errors: `listen-failed`. */
export async function listen(
  options: ListenOptions,
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const server = createServer(
    { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, requireHostHeader: false, ...options.http },
    (request, response) => void handler(request, response),
  );
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(options.malformedAnswer?.() ?? '');
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenFailed(options, cause)));
    server.listen(options.port, options.host, resolve);
  });
  server.removeAllListeners('error');
  const { port } = server.address() as AddressInfo;
  const close = (graceMs = 5000) => closeGently(server, graceMs);
  return { host: options.host, port, close, [Symbol.asyncDispose]: () => close(0) };
}

async function closeGently(server: Server, graceMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** The whole body. Rejects when the client goes away first. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}
