import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { withDeadline } from '#core/deadline/index.ts';
import type { EmbeddedOptions } from '#embedded/options.ts';
import type { EmbeddedServer } from '#embedded/server.ts';
import { healthOf } from '#targets/alive.ts';
import type { Target } from '#targets/types.ts';

const PROGRAM = new URL('./warm-server.ts', import.meta.url).pathname;
const START_WITHIN_MS = 30_000;
/** A server that hangs is not waited for: its process is killed, and the next server gets a new one. */
const CLOSE_WITHIN_MS = 500;

/**
 * The process that the next server starts in, kept from one to the next: Node's own start and cold code would cost more
 * than finding most faults does.
 */
let waiting = spawnProcess();

/** An embedded server with these faults, in a process that nothing else runs in. Errors: `deadline`. */
export async function startServer(
  options: Pick<EmbeddedOptions, 'profile' | 'faults' | 'repository'>,
): Promise<Pick<Target, 'endpoints' | 'identity' | 'health'> & AsyncDisposable> {
  const child = waiting;
  const { endpoints, identity } = await ask(child, START_WITHIN_MS, {
    grpcPort: 0,
    httpPort: 0,
    metricsPort: 0,
    openaiPort: 0,
    host: '127.0.0.1',
    engine: 'llama',
    reduction: 'invariant',
    stepMs: 0,
    checkpoint: TINY_CHECKPOINT,
    ...options,
  });
  return {
    endpoints,
    identity,
    health: async () =>
      hasEnded(child)
        ? { alive: false, detail: `the server ended with ${child.signalCode ?? `code ${child.exitCode}`}` }
        : healthOf([{ name: 'the server', pid: child.pid! }]),
    [Symbol.asyncDispose]: async () => {
      const reusable =
        !hasEnded(child) &&
        (await ask(child, CLOSE_WITHIN_MS, 'close').then(
          () => true,
          () => false,
        ));
      if (reusable) return;
      child.kill('SIGKILL');
      waiting = spawnProcess();
    },
  };
}

function spawnProcess(): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  // It ends when its channel closes, so nothing has to wait for it.
  child.unref();
  child.channel?.unref();
  return child;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function ask(
  child: ChildProcess,
  ms: number,
  message: EmbeddedOptions | 'close',
): Promise<Pick<EmbeddedServer, 'endpoints' | 'identity'>> {
  return withDeadline({ ms, what: 'the server process to answer' }, async (signal) => {
    const answer = once(child, 'message', { signal });
    child.send(message);
    const [said] = (await answer) as [Pick<EmbeddedServer, 'endpoints' | 'identity'> | { readonly error: string }];
    if ('error' in said) throw new LockstepError('server-not-started', said.error);
    return said;
  });
}
