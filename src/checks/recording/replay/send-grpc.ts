import { once } from 'node:events';
import { type ClientHttp2Stream, connect, constants } from 'node:http2';
import { nowNs } from '#core/clock/index.ts';
import { sleep, withDeadline } from '#core/deadline/index.ts';
import { hostPort, secureContext } from '#wire/clients/index.ts';
import { headerOf } from '../content.ts';
import type { FixtureEvent, Headers } from '../types.ts';
import { GrpcFrames, grpcFrame } from './grpc-frames.ts';
import { Pace } from './pace.ts';
import { type Sending, isHidden, unreachable } from './sending.ts';

/** Set by every call, or not allowed in one. */
const OWN = new Set(['te', 'content-type', 'connection', 'host']);

/** One call of gRPC. Events have the times of the monotonic clock. Errors: `target-unreachable`, `interrupted`. */
export async function sendGrpc({ events, endpoints, speed, deadlineMs, signal, leaveAfter }: Sending): Promise<FixtureEvent[]> {
  const { grpc, access } = endpoints;
  const secure = grpc.startsWith('grpcs://');
  const address = hostPort(grpc);
  const session = connect(
    `${secure ? 'https' : 'http'}://${address}`,
    secure && access !== undefined ? { secureContext: secureContext(access) } : {},
  );
  const out: FixtureEvent[] = [];
  const at = (): number => nowNs();
  try {
    await withDeadline({ ms: deadlineMs, what: `a connection to ${address}`, signal }, () => once(session, 'connect'));
  } catch (thrown) {
    session.destroy();
    signal?.throwIfAborted();
    throw unreachable(address, thrown);
  }
  session.on('error', () => undefined);
  const [request] = events;
  const { path, headers: recorded } = request as FixtureEvent & { readonly kind: 'request' };
  const kept = recorded.filter(([name, value]) => !name.startsWith(':') && !OWN.has(name.toLowerCase()) && !isHidden(value));
  const headers: Headers = [
    ...kept,
    ['content-type', headerOf(recorded, 'content-type') ?? 'application/grpc'],
    ['te', 'trailers'],
    ...Object.entries(access?.headers ?? {}),
  ];
  out.push({ kind: 'request', from: 'client', atNs: at(), path, headers: [[':method', 'POST'], ...headers] });
  const stream = session.request({ ':method': 'POST', ':path': path, ...Object.fromEntries(headers) });
  const call = new Call(stream, out, leaveAfter);
  session.on('goaway', (code, _, text?: Buffer) =>
    out.push({ kind: 'goaway', from: 'server', atNs: at(), code: codeName(code), text: text?.toString('latin1') ?? '' }),
  );
  const stop = new AbortController();
  void call.over.then(() => stop.abort());
  try {
    await withDeadline({ ms: deadlineMs, what: 'the end of the call', signal }, async () => {
      await speak(stream, events, { speed, out, signal: stop.signal, left: leaveAfter !== undefined });
      if (leaveAfter === 0) call.leave();
      await call.over;
    });
  } catch {
    // The deadline is this client's: what was seen until then is the recording.
    call.leave();
    await call.over;
  }
  session.destroy();
  signal?.throwIfAborted();
  return out;
}

interface Speaking {
  readonly speed: number;
  readonly out: FixtureEvent[];
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
  readonly left: boolean;
}

/** What the client said, each at its time. */
async function speak(stream: ClientHttp2Stream, events: readonly FixtureEvent[], { speed, out, signal }: Speaking): Promise<void> {
  const pace = new Pace(speed, 0);
  try {
    for (const event of events) {
      if (event.from !== 'client') continue;
      await pace.due(event, signal);
      if (event.kind === 'message') {
        stream.write(grpcFrame(event.bytes, event.encoding !== undefined));
        out.push({ ...event, atNs: nowNs() });
      } else if (event.kind === 'end') {
        stream.end();
        out.push({ kind: 'end', from: 'client', atNs: nowNs() });
      }
    }
    // A recording of a request alone says nothing of its end.
    if (!events.some(({ from, kind }) => from === 'client' && ['end', 'reset', 'close'].includes(kind))) {
      stream.end();
      out.push({ kind: 'end', from: 'client', atNs: nowNs() });
    }
    await sleep(0);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

class Call {
  readonly over: Promise<void>;
  readonly #stream: ClientHttp2Stream;
  readonly #out: FixtureEvent[];
  #left = false;

  constructor(stream: ClientHttp2Stream, out: FixtureEvent[], leaveAfter: number | undefined) {
    this.#stream = stream;
    this.#out = out;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    const frames = new GrpcFrames();
    let encoding: string | undefined;
    let received = 0;
    let ended = false;
    stream.on('response', (_, flags, raw) => {
      const headers = pairs(raw);
      encoding = headerOf(headers, 'grpc-encoding');
      ended = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      out.push({ kind: ended ? 'trailers' : 'response', from: 'server', atNs: nowNs(), headers });
    });
    stream.on('data', (bytes: Buffer) => {
      for (const { bytes: message, compressed } of frames.push(bytes)) {
        if (this.#left) return;
        out.push({
          kind: 'message',
          from: 'server',
          atNs: nowNs(),
          bytes: Buffer.from(message),
          ...(compressed ? { encoding: encoding ?? 'unnamed' } : {}),
        });
        if (++received === leaveAfter) this.leave();
      }
    });
    stream.on('trailers', (_, __, raw) => {
      ended = true;
      out.push({ kind: 'trailers', from: 'server', atNs: nowNs(), headers: pairs(raw) });
    });
    stream.on('error', () => undefined);
    stream.on('close', () => {
      const rest = frames.rest();
      if (!this.#left && !ended) {
        if (rest.length > 0) out.push({ kind: 'bytes', from: 'server', atNs: nowNs(), bytes: rest, why: 'a message that was cut' });
        const code = stream.rstCode;
        out.push(
          code === undefined || code === 0
            ? { kind: 'close', from: 'server', atNs: nowNs() }
            : { kind: 'reset', from: 'server', atNs: nowNs(), code: codeName(code) },
        );
      }
      resolve();
    });
  }

  leave(): void {
    if (this.#left || this.#stream.closed) return;
    this.#left = true;
    this.#out.push({ kind: 'reset', from: 'client', atNs: nowNs(), code: 'CANCEL' });
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** node:http2 gives them as a list of names and values. */
function pairs(raw: readonly string[] | undefined): Headers {
  const list = raw ?? [];
  return Array.from({ length: list.length >> 1 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!] as const);
}

const NAMES = new Map(
  Object.entries(constants)
    .filter(([name]) =>
      /^NGHTTP2_(NO_ERROR|PROTOCOL_ERROR|INTERNAL_ERROR|FLOW_CONTROL_ERROR|SETTINGS_TIMEOUT|STREAM_CLOSED|FRAME_SIZE_ERROR|REFUSED_STREAM|CANCEL|COMPRESSION_ERROR|CONNECT_ERROR|ENHANCE_YOUR_CALM|INADEQUATE_SECURITY|HTTP_1_1_REQUIRED)$/.test(
        name,
      ),
    )
    .map(([name, code]) => [code as number, name.replace('NGHTTP2_', '')]),
);

function codeName(code: number): string {
  return NAMES.get(code) ?? `code ${code}`;
}
