import { spawn } from 'node:child_process';
import { withDeadline } from '#core/deadline/index.ts';

export interface Said {
  readonly code: number | null;
  readonly text: string;
}

/** Runs a script of a bundle to its end; any exit code is an answer. Errors: `deadline`, `interrupted`. */
export function runScript(
  [program, ...args]: readonly [string, ...string[]],
  { signal, environment = {} }: { readonly signal: AbortSignal; readonly environment?: Readonly<Record<string, string>> },
): Promise<Said> {
  return withDeadline({ ms: 60_000, what: `${args[0]} to end`, signal }, (inner) => {
    const { promise, resolve, reject } = Promise.withResolvers<Said>();
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '', ...environment },
      detached: true,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
    };
    inner.addEventListener('abort', kill, { once: true });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text: text.trim() }));
    return promise.finally(() => inner.removeEventListener('abort', kill));
  });
}
