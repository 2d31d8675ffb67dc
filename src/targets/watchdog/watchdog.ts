import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { basename, isAbsolute, join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { findDescendants, readProcess } from '../host/index.ts';
import type { Cleanup, WatchdogMessage } from './messages.ts';

export type { Cleanup };

export interface Registration extends Disposable {
  /** The things are gone or are somebody else's now. */
  release(): void;
}

const PROGRAM = join(import.meta.dirname, 'main.ts');
const SHORTEST_TEXT = 8;

let watchdog: ChildProcess | undefined;
let lastId = 0;

/**
 * Has processes, containers, jobs, folders and shared memory removed within 5 s, and locked GPU clocks freed, should this process end
 * without releasing them, even by SIGKILL. The first call starts a small detached process that holds a pipe to this one; the pipe's end is the sign.
 *
 * Errors: `cleanup-refused`, for what is too wide to be removed by a program on its own.
 */
export function registerForCleanup(cleanup: Cleanup): Registration {
  refuseTooWide(cleanup);
  const id = ++lastId;
  // Looked at here, since a server may be dead, or its number another's, before the watchdog has even started.
  const family = (cleanup.pids ?? []).flatMap((pid) => [readProcess(pid), ...findDescendants(pid)]).filter((row) => row !== undefined);
  send({ kind: 'add', id, cleanup, family });
  const release = () => send({ kind: 'release', id });
  return { release, [Symbol.dispose]: release };
}

function send(message: WatchdogMessage): void {
  if (watchdog === undefined) {
    watchdog = spawn(process.execPath, [PROGRAM], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    watchdog.on('error', () => {});
    // A watchdog that was killed must not take the run with it.
    watchdog.stdin?.on('error', () => {});
    watchdog.unref();
    (watchdog.stdin as unknown as { unref(): void }).unref();
  }
  watchdog.stdin?.write(`${JSON.stringify(message)}\n`);
}

function refuseTooWide(cleanup: Cleanup): void {
  for (const dir of cleanup.dirs ?? []) {
    if (!isAbsolute(dir) || !/^\.?lockstep/.test(basename(dir)))
      refuse(`folder ${dir}: its name must begin with "lockstep" and its path be absolute`);
  }
  for (const text of [...(cleanup.marks ?? []), ...(cleanup.shmPrefixes ?? [])]) {
    if (text.length < SHORTEST_TEXT || text.includes('/'))
      refuse(`“${text}”: at least ${SHORTEST_TEXT} characters and no slash are needed to be sure what it names`);
  }
  const { containers } = cleanup;
  if (containers !== undefined && (!isAbsolute(containers.socket) || !/^lockstep\.run=.{8}/.test(containers.label)))
    refuse(`containers with the label “${containers.label}” at ${containers.socket}`);
  const { jobs } = cleanup;
  if (jobs !== undefined && jobs.name.length < SHORTEST_TEXT) refuse(`jobs of the name “${jobs.name}”`);
  for (const pid of cleanup.pids ?? []) {
    if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) refuse(`process ${pid}`);
  }
}

function refuse(what: string): never {
  throw new LockstepError('cleanup-refused', `not to be cleaned up by a program on its own: ${what}`);
}
