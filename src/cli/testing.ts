/** Ways to run the command line in tests. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execute } from './execute.ts';

export const MAIN = join(import.meta.dirname, 'main.js');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** The command as a user starts it, as a process of its own. */
export async function lockstep(
  cwd: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly node?: string } = {},
): Promise<Ended> {
  const { NO_COLOR: _no, FORCE_COLOR: _force, LOCKSTEP_RUN: _run, ...inherited } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      options.node ?? process.execPath,
      [MAIN, ...args],
      { cwd, env: { ...inherited, ...options.env } },
      (_, out, error) => resolve({ code: child.exitCode, out, error }),
    );
  });
}

/** All of the program but its process: a start costs most of a second, and most command lines end in a moment. */
export async function lockstepHere(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  let [out, error] = ['', ''];
  const code = await execute(args, {
    cwd,
    env: { NO_COLOR: '1', ...env },
    signal: new AbortController().signal,
    terminal: { out: (text) => (out += `${text}\n`), error: (text) => (error += `${text}\n`), columns: 100 },
  });
  return { code, out, error };
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
