/** Records what passes between any client and any server: relays in front of the servers, and a thread that writes. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { pollUntil, withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable } from '#core/files/index.ts';
import { type Relay, type TapEvent, startRelay } from '#wire/relay/index.ts';
import type { FixtureProtocol } from '../types.ts';
import type { FromWriter, ToWriter, WriterOptions } from './messages.ts';

export interface RecorderOptions {
  /** Made when it is missing. */
  readonly folder: string;
  /** host:port each. */
  readonly upstreams: readonly string[];
  /** Told of what the reader should know while the recording goes on: an error of one exchange, a connection of which nothing can be read. */
  readonly onNotice: (notice: LockstepError) => void;
}

export interface Recording {
  /** Finished files, by protocol, in the order in which they ended. */
  readonly written: Readonly<Record<FixtureProtocol, readonly string[]>>;
  /** What there is of exchanges that had not ended. */
  readonly cut: readonly string[];
  /** Exchanges that could not be written. */
  readonly lost: number;
}

/** Bytes that may wait to be decoded; then the traffic waits, since a recorder that forgets is none. */
const WAITING_BYTES = 64 * 1024 * 1024;
/** How long running exchanges may take to end when a recording is stopped. */
const ENDING_MS = 2000;
const LOOK_EVERY_MS = 50;
/** To write what waits; it is at most `WAITING_BYTES`, and the disk may be slow. */
const WRITING_MS = 60_000;

/** The ports are open when the promise resolves. Errors: `file-not-writable`, `relay-not-listening`, `deadline`. */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  assertWritable(join(options.folder, 'recording'));
  const workerData: WriterOptions = { folder: options.folder, upstreams: options.upstreams };
  const writer = new Worker(new URL('writer.ts', import.meta.url), { workerData });
  const recorder = new Recorder(writer, options.onNotice);
  try {
    for (const upstream of options.upstreams) await recorder.listen(upstream);
    return recorder;
  } catch (thrown) {
    await recorder[Symbol.asyncDispose]();
    throw thrown;
  }
}

export class Recorder implements AsyncDisposable {
  readonly relays: Relay[] = [];
  readonly #writer: Worker;
  readonly #onNotice: RecorderOptions['onNotice'];
  readonly #written: Record<FixtureProtocol, string[]> = { grpc: [], http: [], openai: [], unknown: [] };
  readonly #stopped = Promise.withResolvers<readonly string[]>();
  readonly #secured = new Set<string>();
  #taps: (readonly [number, TapEvent])[] = [];
  #waitingBytes = 0;
  #room: PromiseWithResolvers<void> | undefined;
  #running: PromiseWithResolvers<number> | undefined;
  #lost = 0;
  /** The thread is gone: what passes is not kept any more, and holds nobody back. */
  #failed = false;

  constructor(writer: Worker, onNotice: RecorderOptions['onNotice']) {
    this.#writer = writer;
    this.#onNotice = onNotice;
    writer.on('message', (message: FromWriter) => this.#told(message));
    writer.on('error', (thrown: unknown) => {
      this.#onNotice(
        new LockstepError('recorder-failed', `what passes is not recorded any more: ${(thrown as Error).message}`, {
          hint: 'Report this with what was sent; the traffic itself goes on.',
          cause: thrown,
        }),
      );
      this.#failed = true;
      this.#taps = [];
      this.#room?.resolve();
      this.#stopped.resolve([]);
      this.#running?.resolve(0);
    });
    writer.on('exit', () => this.#stopped.resolve([]));
  }

  async listen(upstream: string): Promise<void> {
    const relay = this.relays.length;
    this.relays.push(await startRelay({ upstream, tap: (event) => this.#tap(relay, event) }));
  }

  /** Waits a moment for exchanges that run, closes every connection, and gives what was recorded once all of it is written. */
  async stop(): Promise<Recording> {
    for (const relay of this.relays) relay.stopListening();
    try {
      await pollUntil({ ms: ENDING_MS, what: 'running exchanges to end', everyMs: LOOK_EVERY_MS }, async () =>
        (await this.#countRunning()) === 0 ? true : undefined,
      );
    } catch {
      // They are cut, and the recording says so.
    }
    // Before the connections are closed by this recorder, which is nothing that client or server did.
    this.#flush();
    this.#post({ kind: 'stop' });
    const cut = await withDeadline({ ms: WRITING_MS, what: 'the recording to be written' }, () => this.#stopped.promise);
    await this.#close();
    return { written: this.#written, cut, lost: this.#lost };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    await this.#writer.terminate();
  }

  async #close(): Promise<void> {
    await Promise.all(this.relays.map((relay) => relay[Symbol.asyncDispose]()));
  }

  #countRunning(): Promise<number> {
    this.#flush();
    this.#running ??= Promise.withResolvers();
    this.#post({ kind: 'running?' });
    return this.#running.promise;
  }

  #tap(relay: number, event: TapEvent): Promise<void> | undefined {
    if (this.#failed) return undefined;
    if (event.kind === 'bytes') this.#waitingBytes += event.bytes.length;
    if (this.#taps.push([relay, event]) === 1) setImmediate(() => this.#flush());
    if (this.#waitingBytes <= WAITING_BYTES) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  #flush(): void {
    const taps = this.#taps.splice(0);
    if (taps.length > 0) this.#post({ kind: 'taps', taps: taps.map(([relay, event]) => [relay, alone(event)]) });
  }

  #post(message: ToWriter): void {
    this.#writer.postMessage(message);
  }

  #told(message: FromWriter): void {
    switch (message.kind) {
      case 'done':
        this.#waitingBytes -= message.bytes;
        if (this.#waitingBytes <= WAITING_BYTES / 2) {
          this.#room?.resolve();
          this.#room = undefined;
        }
        return;
      case 'running':
        this.#running?.resolve(message.count);
        this.#running = undefined;
        return;
      case 'written':
        this.#written[message.protocol].push(message.path);
        return;
      case 'tls':
        if (!this.#secured.has(message.upstream)) this.#onNotice(tls(message.upstream));
        this.#secured.add(message.upstream);
        return;
      case 'lost':
        // One full disk has many exchanges; the first tells what to do.
        if (this.#lost++ === 0) this.#onNotice(lostExchange(message));
        return;
      case 'stopped':
        this.#stopped.resolve(message.cut);
        return;
    }
  }
}

/** Cloned between threads is all of the memory that bytes are a view of. */
function alone(event: TapEvent): TapEvent {
  return event.kind === 'bytes' && event.bytes.byteLength !== event.bytes.buffer.byteLength
    ? { ...event, bytes: new Uint8Array(event.bytes) }
    : event;
}

function tls(upstream: string): LockstepError {
  return new LockstepError('relay-tls', `a client speaks TLS to ${upstream}, and nothing of it can be read`, {
    hint: 'Record where the traffic is plain: between the proxy that ends TLS and the server, or on the port without TLS.',
  });
}

function lostExchange({ message, hint }: { readonly message: string; readonly hint: string | undefined }): LockstepError {
  const text = message.replace(/^\[[\w-]+\] /, '');
  return new LockstepError('exchange-lost', `an exchange is not recorded: ${text}`, {
    hint: hint ?? 'Stop the recording and look at the folder; the traffic itself goes on.',
  });
}
