import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { LockstepError } from '#core/errors/index.ts';
import { withDeadline } from '#core/deadline/index.ts';
import { EMBEDDED_DEFAULTS, type EmbeddedOptions } from '#embedded/options.ts';
import type { EmbeddedServer } from '#embedded/server.ts';
import { healthOf } from '#targets/alive.ts';
import type { Target } from '#targets/types.ts';

const PROGRAM = new URL('./warm-server.ts', import.meta.url).pathname;
const START_WITHIN_MS = 30_000;
/** A server that hangs is not waited for: its process is killed, and the next server gets a new one. */
const CLOSE_WITHIN_MS = 500;

/**
 * The process that the next server starts in, kept from one to the next: Node's own start and cold code would cost more
 * than finding most faults does. Undefined: the next server has to start one.
 */
let waiting: ChildProcess | undefined;

/** An embedded server with these faults, in a process that nothing else runs in. Errors: `deadline`, `server-not-started`. */
export async function startServer(
  options: Pick<EmbeddedOptions, 'profile' | 'faults' | 'repository'> & Partial<Pick<EmbeddedOptions, 'checkpoint'>>,
): Promise<Pick<Target, 'endpoints' | 'identity' | 'health'> & AsyncDisposable> {
  const child = waiting ?? spawnProcess();
  // Given back by the one who closes its server in time; after any failure the next one gets another.
  waiting = undefined;
  let started: Pick<EmbeddedServer, 'endpoints' | 'identity'>;
  try {
    started = await ask(child, START_WITHIN_MS, { ...EMBEDDED_DEFAULTS, ...options });
  } catch (thrown) {
    child.kill('SIGKILL');
    throw thrown;
  }
  return {
    ...started,
    health: async () =>
      hasEnded(child)
        ? { alive: false, detail: `the server ${describeEnd(child)}` }
        : healthOf([{ name: 'the server', pid: child.pid!, startTicks: undefined }]),
    [Symbol.asyncDispose]: async () => {
      const reusable = await ask(child, CLOSE_WITHIN_MS, 'close').then(
        () => true,
        () => false,
      );
      if (reusable && waiting === undefined) waiting = child;
      else child.kill('SIGKILL');
    },
  };
}

function spawnProcess(): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  // What cannot be spawned or reached has no `exit`; `ask` tells of it.
  child.on('error', () => {});
  // It ends when its channel closes, so nothing has to wait for it.
  child.unref();
  child.channel?.unref();
  return child;
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function describeEnd(child: ChildProcess): string {
  if (child.pid === undefined) return 'could not be started';
  return child.signalCode === null ? `ended with code ${child.exitCode}` : `was ended by ${child.signalCode}`;
}

async function ask(
  child: ChildProcess,
  ms: number,
  message: EmbeddedOptions | 'close',
): Promise<Pick<EmbeddedServer, 'endpoints' | 'identity'>> {
  return withDeadline({ ms, what: 'the server process to answer' }, async (signal) => {
    const over = new AbortController();
    const until = { signal: AbortSignal.any([signal, over.signal]) };
    const ended = () => new LockstepError('server-not-started', `the process of the server ${describeEnd(child)} before it answered`);
    if (hasEnded(child)) throw ended();
    try {
      const answer = once(child, 'message', until);
      const exit = once(child, 'exit', until).then(() => {
        throw ended();
      });
      child.send(message);
      const [said] = (await Promise.race([answer, exit])) as [Pick<EmbeddedServer, 'endpoints' | 'identity'> | { readonly error: string }];
      if ('error' in said) throw new LockstepError('server-not-started', said.error);
      return said;
    } finally {
      over.abort();
    }
  });
}
