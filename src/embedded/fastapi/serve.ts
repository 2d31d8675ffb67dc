/** A FastAPI application under uvicorn: how it listens, fails and lets go. Source: docs/observed.md#openai-front-end-r25-12. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type Listening, readBody as wholeBody } from '../http/index.ts';
import { wallClockMs } from '#core/clock/index.ts';
import { HttpError } from './http-error.ts';
import { framedByHttptools, reply } from './reply.ts';

const NO_HTTP = 'Invalid HTTP request received.';

/** What uvicorn says to something that is no HTTP. */
const MALFORMED: Readonly<Record<Parser, () => string>> = {
  h11: () => `HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${NO_HTTP}`,
  httptools: () =>
    `HTTP/1.1 400 Bad Request\r\ndate: ${new Date(wallClockMs()).toUTCString()}\r\nserver: uvicorn\r\n` +
    `content-type: text/plain; charset=utf-8\r\ncontent-length: ${NO_HTTP.length}\r\nconnection: close\r\n\r\n${NO_HTTP}`,
};

type Parser = 'h11' | 'httptools';

export interface AppOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Absent: h11. With httptools a request without Host is one. */
  readonly parser?: Parser;
  /** Absent: the body is read to its end. Its HttpErrors are answered; whatever else it throws means that the client left. */
  readonly readBody?: (request: IncomingMessage) => Promise<Buffer>;
  /** What is answered for an error that is no HttpError. */
  readonly unexpected: (thrown: unknown) => HttpError;
}

/** Idle connections are closed after 5 s, as uvicorn does. Errors: `listen-failed`. */
export function serveApp(
  options: AppOptions,
  handle: (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const { host, port, parser = 'h11', readBody = wholeBody, unexpected } = options;
  // Node would keep them a second longer than it says.
  const http = { keepAliveTimeout: 5000, keepAliveTimeoutBuffer: 0 };
  return listen({ host, port, http, malformedAnswer: MALFORMED[parser] }, async (request, response) => {
    if (parser === 'h11' && request.headers.host === undefined && request.httpVersion === '1.1') {
      request.socket.end(MALFORMED[parser]());
      return;
    }
    if (parser === 'httptools') framedByHttptools(response);
    let body: Buffer;
    try {
      body = await readBody(request);
    } catch (thrown) {
      if (thrown instanceof HttpError) reply(response, thrown.status, thrown.body);
      return;
    }
    try {
      await handle(request, body, response);
    } catch (thrown) {
      const error = thrown instanceof HttpError ? thrown : unexpected(thrown);
      if (response.headersSent) response.destroy();
      else reply(response, error.status, error.body, { type: error.type });
    }
  });
}
