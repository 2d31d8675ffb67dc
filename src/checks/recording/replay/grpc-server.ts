/** Recorded gRPC exchanges, played message for message over HTTP/2. */
import { once } from 'node:events';
import { constants, createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { FixtureEvent, Headers } from '../types.ts';
import { GrpcFrames, grpcFrame } from './grpc-frames.ts';
import { type ReplayListener, listen } from './listen.ts';
import { Pace } from './pace.ts';
import { type PlayOptions, STAYED } from './played.ts';
import { type Question, grpcQuestion } from './question.ts';
import { messageWithIds } from './request-ids.ts';
import { type Script, type Shelf, clientLeft } from './script.ts';

const STATUS = { cancelled: 1, notFound: 5, unimplemented: 12 } as const;

/** Errors: `listen-failed`. */
export async function startGrpcReplay(
  shelf: Shelf,
  where: { readonly host: string; readonly port: number },
  options: PlayOptions,
): Promise<ReplayListener> {
  // Servers of gRPC take messages of any size; the windows of node:http2 would make a large request wait for nothing.
  const server = createServer({ settings: { initialWindowSize: 4 * 1024 * 1024 } });
  const sockets = new Map<number | undefined, Socket>();
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(remotePort));
  });
  server.on('session', (session) => session.on('error', () => undefined));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    new Call(stream, headers, shelf, options, () => sockets.get(stream.session?.socket.remotePort)).start();
  });
  return listen(server, where, () => sockets.values());
}

/** One call: on a stream of ModelStreamInfer several recordings can run beside each other, one for each request. */
class Call {
  readonly #stream: ServerHttp2Stream;
  readonly #path: string;
  readonly #encoding: string | undefined;
  readonly #shelf: Shelf;
  readonly #options: PlayOptions;
  readonly #socket: () => Socket | undefined;
  readonly #gone = new AbortController();
  readonly #clientEnded = Promise.withResolvers<void>();
  readonly #plays = new Set<Play>();
  #responded = false;
  #over = false;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    shelf: Shelf,
    options: PlayOptions,
    socket: () => Socket | undefined,
  ) {
    this.#stream = stream;
    this.#path = String(headers[':path'] ?? '');
    this.#encoding = headers['grpc-encoding'] === undefined ? undefined : String(headers['grpc-encoding']);
    this.#shelf = shelf;
    this.#options = options;
    this.#socket = socket;
  }

  start(): void {
    const frames = new GrpcFrames();
    let asked = 0;
    this.#stream.on('data', (bytes: Buffer) => {
      for (const message of frames.push(bytes)) {
        asked++;
        this.#asked(grpcQuestion(this.#path, message.bytes, message.compressed ? (this.#encoding ?? 'unnamed') : undefined));
      }
    });
    this.#stream.on('end', () => {
      this.#clientEnded.resolve();
      if (asked > 0) return;
      const silent = this.#shelf.takeSilent(this.#path);
      if (silent === undefined) this.#fail(STATUS.unimplemented, `no recording has a call of ${this.#path} without a request`);
      else this.#play(silent);
    });
    this.#stream.on('close', () => this.#gone.abort(new LockstepError('interrupted', 'the call is over')));
  }

  #asked(question: Question): void {
    if (this.#over) return;
    for (const play of this.#plays) if (play.answers(question)) return;
    const script = this.#shelf.take(question);
    if (script !== undefined) return this.#play(script, question);
    const text = this.#shelf.missing(question);
    this.#options.onPlayed({ kind: 'missing', text });
    this.#fail(STATUS.notFound, text);
  }

  #play(script: Script, first?: Question): void {
    const play = new Play(script, this.#shelf, this.#options.speed);
    this.#plays.add(play);
    if (first !== undefined) play.answers(first);
    void this.#run(play);
  }

  /** Never rejects. */
  async #run(play: Play): Promise<void> {
    const { name, events } = play.script;
    let sent = 0;
    try {
      const over = await play.run(this.#gone.signal, async (event) => {
        if (await this.#does(event, play)) sent++;
      });
      const stayed = over === 'left' && !(await this.#left());
      this.#options.onPlayed(stayed ? { kind: 'stayed', name } : { kind: 'whole', name });
    } catch (thrown) {
      const asRecorded = sent === play.messages && clientLeft(events);
      if (!this.#gone.signal.aborted) this.#fail(STATUS.unimplemented, LockstepError.from(thrown).message);
      else this.#options.onPlayed(asRecorded ? { kind: 'whole', name } : { kind: 'left', name, sent, of: play.messages });
    } finally {
      this.#plays.delete(play);
    }
  }

  /** Gives whether it was a message. */
  async #does(event: FixtureEvent, play: Play): Promise<boolean> {
    if (this.#over) return false;
    switch (event.kind) {
      case 'response':
        this.#respond(event.headers);
        return false;
      case 'message':
        this.#respond([
          [':status', '200'],
          ['content-type', 'application/grpc'],
        ]);
        await this.#write(grpcFrame(messageWithIds(play.script.path, event.bytes, play.ids), event.encoding !== undefined));
        return true;
      case 'bytes':
        // What was no part of the message is below what HTTP/2 lets a server say; the end of the connection is what clients saw of it.
        if (event.why === 'a message that was cut') await this.#write(event.bytes);
        else this.#socket()?.destroy();
        return false;
      case 'trailers':
        await this.#trailers(event.headers, play);
        return false;
      case 'end':
        this.#over = true;
        this.#stream.end();
        return false;
      case 'reset': {
        this.#over = true;
        const code = (constants as Readonly<Record<string, unknown>>)[`NGHTTP2_${event.code}`];
        if (typeof code === 'number') this.#stream.close(code);
        else this.#socket()?.resetAndDestroy();
        return false;
      }
      case 'close':
        this.#over = true;
        this.#socket()?.end();
        return false;
      case 'goaway': {
        const code = (constants as Readonly<Record<string, unknown>>)[`NGHTTP2_${event.code}`];
        this.#stream.session?.goaway(
          typeof code === 'number' ? code : constants.NGHTTP2_INTERNAL_ERROR,
          0,
          Buffer.from(event.text, 'latin1'),
        );
        return false;
      }
      default:
        return false;
    }
  }

  /** The last recording's trailers end the call; an error ends it for all. */
  async #trailers(headers: Headers, play: Play): Promise<void> {
    const fine = headers.some(([name, value]) => name === 'grpc-status' && value === '0');
    if (fine) {
      if (play.clientEndsFirst) await Promise.race([this.#clientEnded.promise, once(this.#stream, 'close')]);
      this.#plays.delete(play);
      if (this.#plays.size > 0 || this.#over) return;
    }
    this.#end(headers);
  }

  /** Whether the client goes away as the recorded one did; one that does not is told. */
  async #left(): Promise<boolean> {
    try {
      await sleep(this.#options.graceMs, this.#gone.signal);
    } catch {
      return true;
    }
    this.#fail(STATUS.cancelled, STAYED);
    return false;
  }

  #respond(headers: Headers): void {
    if (this.#responded || this.#stream.destroyed) return;
    this.#responded = true;
    this.#stream.respond(outgoing(headers), { waitForTrailers: true, sendDate: false } as object);
  }

  /** Until the connection has the bytes, which may end next; a call that is over takes none, and that is no error here. */
  #write(bytes: Buffer): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#stream.writable) this.#stream.write(bytes, () => resolve());
    else resolve();
    return promise;
  }

  #end(headers: Headers): void {
    if (this.#over || this.#stream.destroyed) return;
    this.#over = true;
    if (!this.#responded) {
      this.#responded = true;
      const status: Headers = headers.some(([name]) => name === ':status')
        ? headers
        : [[':status', '200'], ['content-type', 'application/grpc'], ...headers];
      this.#stream.respond(outgoing(status), { endStream: true, sendDate: false } as object);
      return;
    }
    this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(outgoing(headers)));
    this.#stream.end();
  }

  #fail(status: number, text: string): void {
    this.#end([
      ['grpc-status', String(status)],
      ['grpc-message', encodeURIComponent(`lockstep replay: ${text}`)],
    ]);
  }
}

/** One recording that runs. */
class Play {
  readonly script: Script;
  readonly ids = new Map<string, string>();
  readonly #shelf: Shelf;
  readonly #speed: number;
  #next = 0;
  #arrived: (() => void) | undefined;

  constructor(script: Script, shelf: Shelf, speed: number) {
    this.script = script;
    this.#shelf = shelf;
    this.#speed = speed;
  }

  get messages(): number {
    return this.script.events.filter(({ kind, from }) => kind === 'message' && from === 'server').length;
  }

  /** The call was over for the client before the server ended it. */
  get clientEndsFirst(): boolean {
    const at = (kind: string, from: string): number => this.script.events.findIndex((event) => event.kind === kind && event.from === from);
    const end = at('end', 'client');
    return end >= 0 && end < at('trailers', 'server');
  }

  /** Takes the question when it is the next of the recording. */
  answers(question: Question): boolean {
    const recorded = this.script.questions[this.#next];
    if (recorded === undefined || !this.#shelf.matches(question, recorded)) return false;
    this.ids.set(recorded.id, question.id);
    this.#next++;
    this.#arrived?.();
    return true;
  }

  /** `left`: the client that was recorded went away here. */
  async run(signal: AbortSignal, does: (event: FixtureEvent) => Promise<void>): Promise<'over' | 'left'> {
    const { events } = this.script;
    const pace = new Pace(this.#speed, events[0]?.atNs ?? 0);
    let heard = 0;
    for (const event of events) {
      if (event.from === 'server') {
        await pace.due(event, signal);
        await does(event);
      } else if (event.kind === 'message') {
        heard++;
        while (this.#next < heard) await this.#arrival(signal);
        pace.did(event);
      } else if ((event.kind === 'reset' || event.kind === 'close') && clientLeft(events)) {
        await pace.due(event, signal);
        return 'left';
      }
    }
    return 'over';
  }

  #arrival(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(signal.reason as Error);
    this.#arrived = () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    return promise;
  }
}

/** Names and values are one character per byte; what came twice goes out twice. */
function outgoing(headers: Headers): OutgoingHttpHeaders {
  const out: Record<string, string | string[] | number> = {};
  for (const [name, value] of headers) {
    const before = out[name];
    if (name === ':status') out[name] = Number(value);
    else out[name] = before === undefined ? value : [before, value].flat().map(String);
  }
  return out;
}
