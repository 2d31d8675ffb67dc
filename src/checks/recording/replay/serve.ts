import { LockstepError } from '#core/errors/index.ts';
import type { Fixture } from '../types.ts';
import { startGrpcReplay } from './grpc-server.ts';
import type { ReplayListener } from './listen.ts';
import { startHttpReplay } from './http-server.ts';
import type { Played } from './played.ts';
import { type Script, Shelf, scriptOf } from './script.ts';

export interface ReplayOptions {
  readonly fixtures: readonly { readonly name: string; readonly fixture: Fixture }[];
  readonly host?: string;
  /** 0: any free port. A port is opened only for what there is to play on it. */
  readonly ports?: { readonly grpc: number; readonly http: number; readonly openai: number };
  /** Times as fast as recorded: 1 as it was, 10 ten times as fast, Infinity without waits. */
  readonly speed: number;
  /** The one fixture answers whatever is asked. */
  readonly anything?: boolean;
  readonly onPlayed?: (played: Played) => void;
}

/** A server that says what was recorded. Disposing it cuts its connections. */
export interface ReplayServer extends AsyncDisposable {
  /** host:port of each protocol that there are recordings of; OpenAI's is a base URL without /v1. */
  readonly grpc: string | undefined;
  readonly http: string | undefined;
  readonly openai: string | undefined;
}

/** How long a client may take to go away where the recorded one went. */
const GRACE_MS = 2000;

/**
 * Answers each request with the exchange in which it was recorded: message for message, chunk for chunk, with its errors,
 * trailers, resets and pauses. Requests are the same when they ask the same: ids, the order of tensors and their spelling do
 * not count. Clients that number their requests otherwise get their own numbers back.
 *
 * Errors: `fixture-not-replayable`, `listen-failed`.
 */
export async function startReplayServer(options: ReplayOptions): Promise<ReplayServer> {
  const {
    fixtures,
    host = '127.0.0.1',
    ports = { grpc: 0, http: 0, openai: 0 },
    speed,
    anything = false,
    onPlayed = () => undefined,
  } = options;
  if (fixtures.length === 0)
    throw new LockstepError('fixture-not-replayable', 'there is nothing to replay', { hint: 'Name one or more fixture files.' });
  const scripts = fixtures.map(({ name, fixture }) => scriptOf(fixture, name));
  const play = { speed, graceMs: GRACE_MS, onPlayed };
  await using open = new AsyncDisposableStack();
  const listen = async (protocol: Script['protocol'], start: typeof startGrpcReplay): Promise<string | undefined> => {
    const own = scripts.filter((script) => script.protocol === protocol);
    if (own.length === 0) return undefined;
    const listener: ReplayListener = open.use(await start(new Shelf(own, anything), { host, port: ports[protocol] }, play));
    return `${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
  };
  const grpc = await listen('grpc', startGrpcReplay);
  const http = await listen('http', startHttpReplay);
  const openai = await listen('openai', startHttpReplay);
  const running = open.move();
  return {
    grpc,
    http,
    openai: openai === undefined ? undefined : `http://${openai}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
