import { once } from 'node:events';
import { type Socket, connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { nowNs } from '#core/clock/index.ts';
import { withDeadline } from '#core/deadline/index.ts';
import { hostPort, httpBase, secureContext } from '#wire/clients/index.ts';
import { Http1Decoder } from '../decode/http1.ts';
import type { FixtureEvent, Headers } from '../types.ts';
import { writtenBytes } from './http-framing.ts';
import { Pace } from './pace.ts';
import { type Sending, isHidden, unreachable } from './sending.ts';

/** One request of HTTP, on a connection of its own. Events have the times of the monotonic clock. Errors: `target-unreachable`, `interrupted`. */
export async function sendHttp(
  { events, endpoints, speed, deadlineMs, signal, leaveAfter }: Sending,
  address: string,
): Promise<FixtureEvent[]> {
  const url = new URL(httpBase(address));
  const { access } = endpoints;
  const [host, port] = splitHost(hostPort(httpBase(address)));
  const socket: Socket =
    url.protocol === 'https:'
      ? connectTls({
          host,
          port,
          servername: isIP(host) === 0 ? host : '',
          ...(access === undefined ? {} : { secureContext: secureContext(access) }),
        })
      : connect({ host, port, noDelay: true });
  try {
    await withDeadline({ ms: deadlineMs, what: `a connection to ${url.host}`, signal }, () =>
      once(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect'),
    );
  } catch (thrown) {
    socket.destroy();
    signal?.throwIfAborted();
    throw unreachable(url.host, thrown);
  }
  const out: FixtureEvent[] = [];
  const over = Promise.withResolvers<void>();
  let received = 0;
  let left = false;
  const leave = (): void => {
    if (left) return;
    left = true;
    out.push({ kind: 'close', from: 'client', atNs: nowNs() });
    socket.destroy();
    over.resolve();
  };
  const decoder = new Http1Decoder(() => ({
    add: (event) => {
      if (left) return;
      out.push(event);
      if (event.from === 'server' && (event.kind === 'chunk' || event.kind === 'body') && ++received === leaveAfter) leave();
    },
    over: () => over.resolve(),
  }));
  socket.on('data', (bytes: Buffer) => decoder.bytes('server', nowNs(), bytes));
  socket.on('end', () => decoder.end('server', nowNs()));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!left) decoder.reset('server', nowNs(), error.code ?? 'ECONNRESET');
  });
  socket.on('close', () => {
    decoder.closed(nowNs());
    over.resolve();
  });
  const write = (bytes: Buffer): void => {
    decoder.bytes('client', nowNs(), bytes);
    socket.write(bytes);
  };
  const stop = new AbortController();
  void over.promise.then(() => stop.abort());
  try {
    await withDeadline({ ms: deadlineMs, what: 'the end of the answer', signal }, async () => {
      await speak(events, { url, write, speed, signal: stop.signal, headers: Object.entries(access?.headers ?? {}) });
      if (leaveAfter === 0) leave();
      await over.promise;
    });
  } catch {
    // The deadline is this client's: what was seen until then is the recording.
    leave();
  }
  socket.destroy();
  signal?.throwIfAborted();
  return out;
}

interface Speaking {
  readonly url: URL;
  readonly write: (bytes: Buffer) => void;
  readonly speed: number;
  /** Aborts when the exchange is over. */
  readonly signal: AbortSignal;
  readonly headers: Headers;
}

async function speak(events: readonly FixtureEvent[], { url, write, speed, signal, headers }: Speaking): Promise<void> {
  const pace = new Pace(speed, 0);
  const prefix = url.pathname.replace(/\/+$/, '');
  const framing = { chunked: events.some(({ from, kind }) => from === 'client' && kind === 'chunk'), grown: 0, headGrown: 0, left: 0 };
  try {
    for (const event of events) {
      if (event.from !== 'client') continue;
      await pace.due(event, signal);
      if (event.kind === 'request') {
        const kept = event.headers.filter(([name, value]) => name.toLowerCase() !== 'host' && !isHidden(value));
        const lines = [['Host', url.host] as const, ...kept, ...headers].map(([name, value]) => `${name}: ${value}`);
        write(Buffer.from([`${event.method ?? 'GET'} ${prefix}${event.path} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1'));
      } else if (event.kind !== 'reset' && event.kind !== 'close') {
        const bytes = writtenBytes(event, framing, (plain) => plain);
        if (bytes.length > 0) write(bytes);
      }
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

function splitHost(address: string): readonly [host: string, port: number] {
  const colon = address.lastIndexOf(':');
  return [address.slice(0, colon).replace(/^\[|\]$/g, ''), Number(address.slice(colon + 1))];
}
