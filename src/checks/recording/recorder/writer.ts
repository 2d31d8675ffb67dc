/** The thread of a recorder that decodes what the relays saw and writes it. */
import { setPriority } from 'node:os';
import { readdirSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { LockstepError } from '#core/errors/index.ts';
import type { TapEvent } from '#wire/relay/index.ts';
import { SniffingDecoder } from '../decode/connection.ts';
import type { ConnectionDecoder } from '../decode/types.ts';
import { ExchangeFile } from './exchange-file.ts';
import type { FromWriter, ToWriter, WriterOptions } from './messages.ts';

/** The least that Linux gives: whoever forwards comes first, on a busy machine too. There, 0 is this thread alone (setpriority(2)). */
const BEHIND_ALL = 19;

const { folder, upstreams } = workerData as WriterOptions;
const port = parentPort!;
if (process.platform === 'linux') setPriority(0, BEHIND_ALL);

const tell = (message: FromWriter): void => port.postMessage(message);
const connections = new Map<number, ConnectionDecoder>();
/** Connections that the decoder failed at; the others go on. */
const unread = new Set<number>();
const running = new Set<ExchangeFile>();
const finishing = new Set<Promise<void>>();
let number = lastNumber();

/** Recordings into one folder go on where the last one ended. */
function lastNumber(): number {
  return readdirSync(folder).reduce((last, name) => Math.max(last, Number(/^(\d{4,9})-/.exec(name)?.[1] ?? 0)), 0);
}

function begin(protocol: ExchangeFile['protocol'], server: string): ExchangeFile {
  const file = new ExchangeFile({
    folder,
    number: ++number,
    protocol,
    server,
    onOver: (over) => {
      running.delete(over);
      const done = finish(over).finally(() => finishing.delete(done));
      finishing.add(done);
    },
    onError: lost,
  });
  running.add(file);
  return file;
}

async function finish(file: ExchangeFile): Promise<void> {
  const path = await file.finish();
  if (path !== undefined) tell({ kind: 'written', path, protocol: file.protocol });
}

function lost(thrown: unknown): void {
  const error = LockstepError.from(thrown);
  tell({ kind: 'lost', message: error.message, hint: error.hint });
}

function decoderOf(relay: number, connection: number): ConnectionDecoder {
  let decoder = connections.get(connection);
  if (decoder === undefined) {
    const server = upstreams[relay]!;
    decoder = new SniffingDecoder({ begin: (protocol) => begin(protocol, server), onTls: () => tell({ kind: 'tls', upstream: server }) });
    connections.set(connection, decoder);
  }
  return decoder;
}

function tryTake(relay: number, event: TapEvent): void {
  if (unread.has(event.connection)) return;
  try {
    take(relay, event);
  } catch (thrown) {
    unread.add(event.connection);
    lost(thrown);
  }
}

function take(relay: number, event: TapEvent): void {
  const { connection, atNs } = event;
  if (event.kind === 'open') return;
  const decoder = decoderOf(relay, connection);
  switch (event.kind) {
    case 'bytes': {
      const { buffer, byteOffset, byteLength } = event.bytes;
      return decoder.bytes(event.from, atNs, Buffer.from(buffer, byteOffset, byteLength));
    }
    case 'end':
      return decoder.end(event.from, atNs);
    case 'reset':
      return decoder.reset(event.from, atNs, event.code);
    case 'closed':
      decoder.closed(atNs);
      connections.delete(connection);
  }
}

port.on('message', (message: ToWriter) => {
  if (message.kind === 'running?') {
    tell({ kind: 'running', count: running.size });
    return;
  }
  if (message.kind === 'stop') {
    void stop();
    return;
  }
  let bytes = 0;
  for (const [relay, event] of message.taps) {
    if (event.kind === 'bytes') bytes += event.bytes.byteLength;
    tryTake(relay, event);
  }
  // What was seen so far is safe from a kill of this process.
  for (const file of running) file.flush();
  tell({ kind: 'done', bytes });
});

async function stop(): Promise<void> {
  await Promise.all(finishing);
  const cut = [...running].map((file) => file.leave()).filter((path) => path !== undefined);
  tell({ kind: 'stopped', cut });
  port.close();
}
