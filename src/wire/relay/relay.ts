/** A TCP forwarder that lets others see what passes, and changes nothing of it. */
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { nowNs } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';

export type RelaySide = 'client' | 'server';

/** What happened on one connection, when: nanoseconds of the monotonic clock. */
export type TapEvent = { readonly connection: number; readonly atNs: number } & (
  | { readonly kind: 'open' }
  /** Bytes as one read gave them; they have been forwarded already, and nobody writes to them any more. */
  | { readonly kind: 'bytes'; readonly from: RelaySide; readonly bytes: Uint8Array }
  /** This side sends no more (FIN). */
  | { readonly kind: 'end'; readonly from: RelaySide }
  /** This side reset the connection; from the server also when it could not be reached (`code` says how). */
  | { readonly kind: 'reset'; readonly from: RelaySide; readonly code: string }
  /** Nothing more comes from either side. */
  | { readonly kind: 'closed' }
);

/** Called after the bytes were forwarded. A promise holds back the side that they came from until it settles. */
export type Tap = (event: TapEvent) => Promise<void> | undefined;

export interface RelayOptions {
  /** host:port; a host that is an IPv6 address in brackets. */
  readonly upstream: string;
  readonly tap?: Tap | undefined;
}

/** The port is open when the promise resolves. Errors: `relay-not-listening`. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  server.listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (thrown) {
    throw new LockstepError('relay-not-listening', `no port on 127.0.0.1 can be opened: ${(thrown as Error).message}`, {
      hint: 'Look at what forbids this process to listen.',
      cause: thrown,
    });
  }
  return new Relay(server, options);
}

let connections = 0;

/**
 * Loopback only. Bytes, half-closes and resets pass as they come, in both directions; each connection of a client is one
 * to the upstream. Disposing it closes all of them.
 */
export class Relay implements AsyncDisposable {
  /** host:port for clients. */
  readonly address: string;
  readonly upstream: string;
  readonly #server: Server;
  readonly #options: RelayOptions;
  readonly #host: string;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, options: RelayOptions) {
    this.#server = server;
    this.#options = options;
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.upstream = options.upstream;
    this.#host = options.upstream.slice(0, options.upstream.lastIndexOf(':')).replace(/^\[|\]$/g, '');
    this.#port = Number(options.upstream.slice(options.upstream.lastIndexOf(':') + 1));
    server.on('connection', (client: Socket) => this.#join(client));
  }

  /** No new connections; those that there are go on. */
  stopListening(): void {
    this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    const closed = [...this.#sockets].map((socket) => once(socket, 'close'));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  #join(client: Socket): void {
    const connection = connections++;
    const server = connect({ host: this.#host, port: this.#port, allowHalfOpen: true, noDelay: true });
    void this.#tap({ kind: 'open', connection, atNs: nowNs() });
    let open = 2;
    const onClose = (socket: Socket): void => {
      this.#sockets.delete(socket);
      if (--open === 0) void this.#tap({ kind: 'closed', connection, atNs: nowNs() });
    };
    for (const [socket, other, from] of [
      [client, server, 'client'],
      [server, client, 'server'],
    ] as const) {
      this.#sockets.add(socket);
      this.#forward(socket, other, connection, from);
      socket.once('close', () => {
        onClose(socket);
        // After FIN both ways it has ended by itself; otherwise there is nobody left to send to.
        if (!other.destroyed && !other.writableEnded) other.destroy();
      });
    }
  }

  #forward(from: Socket, to: Socket, connection: number, side: RelaySide): void {
    from.on('data', (bytes: Buffer) => {
      const atNs = nowNs();
      const full = !to.write(bytes);
      const held = this.#tap({ kind: 'bytes', connection, atNs, from: side, bytes });
      if (full) holdUntil(from, new Promise((resolve) => to.once('drain', resolve).once('close', resolve)));
      if (held !== undefined) holdUntil(from, held);
    });
    from.on('end', () => {
      const atNs = nowNs();
      to.end();
      void this.#tap({ kind: 'end', connection, atNs, from: side });
    });
    from.on('error', (error: NodeJS.ErrnoException) => {
      const atNs = nowNs();
      to.resetAndDestroy();
      void this.#tap({ kind: 'reset', connection, atNs, from: side, code: error.code ?? 'ECONNRESET' });
    });
  }

  #tap(event: TapEvent): Promise<void> | undefined {
    return this.#options.tap?.(event);
  }
}

const holds = new WeakMap<Socket, number>();

/** Reads no more from a socket until all that it waits for has happened. */
function holdUntil(socket: Socket, moment: Promise<unknown>): void {
  holds.set(socket, (holds.get(socket) ?? 0) + 1);
  socket.pause();
  const release = (): void => {
    const left = (holds.get(socket) ?? 1) - 1;
    holds.set(socket, left);
    if (left === 0) socket.resume();
  };
  moment.then(release, release);
}
