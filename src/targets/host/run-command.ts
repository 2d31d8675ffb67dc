import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';

export interface CommandOptions {
  readonly ms: number;
  /** What the command is for, as a noun phrase. */
  readonly what: string;
  /** Its standard input; none when absent. */
  readonly input?: string;
  /** Default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program to its end and gives its standard output.
 *
 * Errors: `command-failed` (cannot start, exit code other than 0; the last output rides along), `deadline`.
 */
export async function runCommand(program: string, args: readonly string[], options: CommandOptions): Promise<string> {
  return withDeadline(options, (signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let output = '';
    let errors = '';
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: options.env, signal, killSignal: 'SIGKILL' });
    // A program that does not read its input may end before it is written.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const fail = (how: string, cause?: unknown) =>
      reject(
        new LockstepError('command-failed', `${options.what}: ${program} ${how}`, {
          context: { arguments: args.join(' '), output: (output + errors).trim().split('\n').slice(-15).join('\n') },
          hint: 'Run the command by itself with these arguments; its output above says what it missed.',
          cause,
        }),
      );
    child.on('error', (error) => fail(error.message, error));
    child.on('close', (code, name) => (code === 0 ? resolve(output) : fail(`ended with ${code ?? name}`)));
    return promise;
  });
}

/** Whether a program of this name is in a folder of PATH. */
export function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}
