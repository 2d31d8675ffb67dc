import { createParser } from 'eventsource-parser';
import { LockstepError } from '#core/errors/index.ts';
import type { CallOptions } from '../types.ts';
import type { HttpChannel } from './channel.ts';
import type { HttpEnding, HttpExchange, HttpHead, HttpRequest } from './exchange.ts';
import { parseJson } from './json.ts';

/** One server-sent event, or a whole body that is no event stream. */
export interface BodyEvent {
  /** Payload; bytes that are not UTF-8 are U+FFFD here. */
  readonly text: string;
  /** The payload as JSON; undefined when it is none (`[DONE]`, plain text). */
  readonly json: unknown;
  /** The payload is `[DONE]`. */
  readonly done: boolean;
  /** The payload's bytes in hexadecimal when they are not valid UTF-8: then `text` lost something. */
  readonly invalidUtf8: string | undefined;
}

/**
 * An answer read as events. A body of another content type counts as one event, so that unary and streamed answers,
 * and refusals of either, are read by the same loop.
 */
export interface EventStream extends AsyncDisposable {
  readonly sent: Promise<void>;
  readonly head: Promise<HttpHead>;
  /**
   * Leaving early destroys the connection.
   *
   * Errors: those of HttpExchange, and `sse-truncated` when the body ended inside an event.
   */
  readonly events: AsyncGenerator<BodyEvent, void, void>;
  readonly ending: Promise<HttpEnding>;
  close(): void;
}

export function openEvents(channel: HttpChannel, request: HttpRequest, options: CallOptions): EventStream {
  const exchange = channel.open(request, options);
  return {
    sent: exchange.sent,
    head: exchange.head,
    events: readEvents(exchange),
    ending: exchange.ending,
    close: () => exchange.close(),
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

const EVENT_BEGINS = 'data:';

async function* readEvents(exchange: HttpExchange): AsyncGenerator<BodyEvent, void, void> {
  try {
    const { headers } = await exchange.head;
    const named = String(headers['content-type'] ?? '').startsWith('text/event-stream');
    const chunks = exchange.chunks[Symbol.asyncIterator]();
    let begun = Buffer.alloc(0);
    while (begun.length < EVENT_BEGINS.length) {
      const next = await chunks.next();
      if (next.done) break;
      begun = Buffer.concat([begun, next.value]);
    }
    // Triton up to 2.41 calls a stream of events application/json (docs/observed.md#triton-by-release).
    if (!named && begun.toString('latin1', 0, EVENT_BEGINS.length) !== EVENT_BEGINS) {
      const parts: Buffer[] = [begun];
      for await (const chunk of chunks) parts.push(chunk);
      const body = Buffer.concat(parts);
      if (body.length > 0) yield bodyEvent(body);
      return;
    }
    // One character per byte: event borders are ASCII, and each payload is checked as UTF-8 on its own.
    const ready: Buffer[] = [];
    const parser = createParser({ onEvent: (event) => ready.push(Buffer.from(event.data, 'latin1')) });
    let tail = '';
    const feed = (chunk: Buffer): Buffer[] => {
      const text = chunk.toString('latin1');
      tail = (tail + text).slice(-4);
      parser.feed(text);
      return ready.splice(0);
    };
    for (const payload of feed(begun)) yield bodyEvent(payload);
    for await (const chunk of chunks) for (const payload of feed(chunk)) yield bodyEvent(payload);
    if (tail !== '' && !/(?:\n\n|\r\r|\r\n\r\n)$/.test(tail)) {
      throw new LockstepError('sse-truncated', 'the body ended inside an event', {
        hint: 'The last event is incomplete; look at what the server did at the end of this answer.',
      });
    }
  } finally {
    exchange.close();
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bodyEvent(bytes: Buffer): BodyEvent {
  let text: string;
  let invalidUtf8: string | undefined;
  try {
    text = UTF8.decode(bytes);
  } catch {
    text = bytes.toString('utf8');
    invalidUtf8 = bytes.toString('hex');
  }
  const done = text === '[DONE]';
  return { text, json: done ? undefined : tryJson(text), done, invalidUtf8 };
}

function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
