/** Recorded HTTP exchanges, played chunk for chunk. */
import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { headerOf } from '../content.ts';
import { Http1Decoder } from '../decode/http1.ts';
import type { FixtureEvent, RequestEvent } from '../types.ts';
import { framingOf, headText, writtenBytes } from './http-framing.ts';
import { type ReplayListener, listen } from './listen.ts';
import { Pace } from './pace.ts';
import type { PlayOptions } from './played.ts';
import { type Question, httpQuestion } from './question.ts';
import { textWithIds } from './request-ids.ts';
import { type Script, type Shelf, bodyOf, clientLeft, halfClosed } from './script.ts';

/** Errors: `listen-failed`. */
export async function startHttpReplay(
  shelf: Shelf,
  where: { readonly host: string; readonly port: number },
  options: PlayOptions,
): Promise<ReplayListener> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    serveConnection(socket, shelf, options);
  });
  return listen(server, where, () => sockets);
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Requests of one connection are answered one after another, however early they come. */
function serveConnection(socket: Socket, shelf: Shelf, options: PlayOptions): void {
  const gone = new AbortController();
  let answering: Promise<void> = Promise.resolve();
  const decoder = new Http1Decoder(() => {
    const events: FixtureEvent[] = [];
    return {
      add: (event) => {
        if (event.from === 'server') return;
        events.push(event);
        const [request] = events;
        if (event.kind === 'request' && headerOf(event.headers, 'expect')?.toLowerCase() === '100-continue') socket.write(CONTINUE);
        if (event.kind === 'end' && request?.kind === 'request') answering = answering.then(() => answer(request, bodyOf(events)));
        // A client that speaks something else gets what a server of HTTP does: an end.
        if (event.kind === 'bytes') socket.destroy();
      },
      over: () => undefined,
    };
  });
  const write = (bytes: Buffer): Promise<void> | undefined => {
    decoder.bytes('server', nowNs(), bytes);
    if (!socket.writable || socket.write(bytes)) return undefined;
    return once(socket, 'drain', { signal: gone.signal }).then(() => undefined);
  };
  const answer = async (request: RequestEvent, body: Buffer): Promise<void> => {
    if (gone.signal.aborted) return;
    const question = httpQuestion(request.method ?? 'GET', request.path, request.headers, body);
    const script = shelf.take(question);
    if (script !== undefined) return play(script, question, { socket, write, signal: gone.signal }, options).catch(() => undefined);
    const text = shelf.missing(question);
    options.onPlayed({ kind: 'missing', text });
    await write(refusal(404, 'Not Found', text));
  };
  socket.on('data', (bytes: Buffer) => decoder.bytes('client', nowNs(), bytes));
  socket.on('close', () => gone.abort(new LockstepError('interrupted', 'the connection was closed')));
  socket.on('end', () => {
    // A client that closes its half has left, unless the one that was recorded closed its half and waited.
    if (shelf.scripts.some(({ events }) => halfClosed(events))) void answering.finally(() => socket.end());
    else {
      gone.abort(new LockstepError('interrupted', 'the client left'));
      socket.end();
    }
  });
}

interface Wire {
  readonly socket: Socket;
  readonly write: (bytes: Buffer) => Promise<void> | undefined;
  readonly signal: AbortSignal;
}

async function play(
  script: Script,
  question: Question,
  { socket, write, signal }: Wire,
  { speed, graceMs, onPlayed }: PlayOptions,
): Promise<void> {
  const { events, name } = script;
  const ids = new Map([[script.questions[0]!.id, question.id]]);
  const framing = framingOf(events, ids);
  const pieces = events.filter(({ from, kind }) => from === 'server' && (kind === 'chunk' || kind === 'body')).length;
  const asked = events.findLast(({ from, kind }) => from === 'client' && kind !== 'reset' && kind !== 'close');
  const pace = new Pace(speed, asked?.atNs ?? 0);
  let sent = 0;
  try {
    for (const event of events) {
      if (event.from === 'client') {
        if ((event.kind !== 'reset' && event.kind !== 'close') || halfClosed(events)) continue;
        await pace.due(event, signal);
        await sleep(graceMs, signal);
        onPlayed({ kind: 'stayed', name });
        // In the middle of an answer there is no place for words: the connection ends, as for the client that was recorded.
        socket.destroy();
        return;
      }
      // It has been given already, to a client that asked for it.
      if (event.kind === 'response' && event.status === 100) continue;
      await pace.due(event, signal);
      if (event.kind === 'reset') socket.resetAndDestroy();
      else if (event.kind === 'close') socket.end();
      else if (event.kind === 'response') await write(headText(event, framing));
      else {
        const bytes = writtenBytes(event, framing, (plain) => textWithIds(plain, ids));
        if (bytes.length > 0) await write(bytes);
        if (event.kind === 'chunk' || event.kind === 'body') sent++;
      }
    }
    onPlayed({ kind: 'whole', name });
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    onPlayed(sent === pieces && clientLeft(events) ? { kind: 'whole', name } : { kind: 'left', name, sent, of: pieces });
  }
}

function refusal(status: number, reason: string, text: string): Buffer {
  const body = Buffer.from(`${JSON.stringify({ error: `lockstep replay: ${text}` })}\n`, 'utf8');
  const head = `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}
