import { spawn } from 'node:child_process';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';

export interface ClientRun {
  readonly program: string;
  readonly args: readonly string[];
  /** The client's name, for errors. */
  readonly name: string;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  /** Standard input; none when absent. */
  readonly input?: string;
  /** Added to this process's own environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** What a reader needs of a client that failed. */
const LAST_LINES = 25;

/**
 * Runs a client to its end and gives its standard output. At the deadline it is killed with all processes that it started.
 *
 * Errors: `client-failed` (cannot start, or exit code other than 0; its last lines ride along), `deadline`.
 */
export async function runClient(run: ClientRun): Promise<string> {
  const { program, args, name, ms, signal: outer, input, environment, cwd } = run;
  return withDeadline({ ms, what: `the client ${name} to end`, signal: outer }, (signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let output = '';
    let errors = '';
    // Packages are installed without bytecode: what a first run compiles serves the others. Empty counts as not set.
    const compiled = { PYTHONDONTWRITEBYTECODE: '' };
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      cwd,
      env: { ...process.env, ...compiled, ...environment },
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const fail = (how: string, cause?: unknown) =>
      reject(
        new LockstepError('client-failed', `${name} ${how}`, {
          context: { command: [program, ...args].join(' '), output: (output + errors).trim().split('\n').slice(-LAST_LINES).join('\n') },
          hint: 'Read the last lines of its output, above; docs/clients.md says what each client wants of a server.',
          cause,
        }),
      );
    const killAll = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
    };
    signal.addEventListener('abort', killAll, { once: true });
    child.on('error', (error) => fail(`cannot be started: ${error.message}`, error));
    child.on('close', (code, ended) => (code === 0 ? resolve(output) : fail(`ended with ${code ?? ended}`)));
    // A client that ends before it has read everything says why by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
    return promise.finally(() => signal.removeEventListener('abort', killAll));
  });
}
