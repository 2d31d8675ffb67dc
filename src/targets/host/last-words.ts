/** A small file in which whoever started a process keeps its last log lines and, once it ended, how. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '#core/deadline/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import type { LogRing } from './log-ring.ts';

export interface LastWords {
  /** Undefined while it runs. */
  readonly ended?: string | undefined;
  readonly log: string;
}

export interface Writer {
  readonly path: string;
  /** After it nothing is written any more. */
  remove(): void;
}

/** Output comes in bursts, and what a process said last can arrive after its exit. */
const SETTLE_MS = 50;
/** Between a death and its note lie an exit event, of a container the engine's, and the settling above. */
const WAIT_MS = 2_000;

/** Among the shared memory of the server whose names there begin so, and so removed with it by whoever cleans up. */
export function lastWordsPath(prefix: string): string {
  return join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `${prefix}last_words`);
}

/** The file, written soon after each call of `changed`: output comes in bursts. */
export function lastWordsFile(path: string, words: () => LastWords): Writer & { changed(): void } {
  let timer: NodeJS.Timeout | undefined;
  let removed = false;
  const write = () => {
    timer = undefined;
    if (removed) return;
    try {
      writeFileAtomic(path, JSON.stringify(words()));
    } catch {
      // A full disk must not end the run: then a death has no cause.
    }
  };
  return {
    path,
    changed: () => void (timer ??= setTimeout(write, SETTLE_MS).unref()),
    remove: () => {
      removed = true;
      clearTimeout(timer);
      rmSync(path, { force: true });
    },
  };
}

/** Writes when the child ends and, with `always`, after each burst of output: for servers that outlive their own parts. */
export function keepLastWords(
  child: ChildProcess,
  of: { readonly path: string; readonly log: LogRing; readonly ended: () => string | undefined; readonly always: boolean },
): Writer {
  const file = lastWordsFile(of.path, () => ({ ended: of.ended(), log: of.log.tail() }));
  child.once('exit', () => file.changed());
  if (of.always) for (const stream of [child.stdout, child.stderr]) stream?.on('data', () => file.changed());
  return file;
}

/** Of a process that is dead, its end is waited for, but not for long; undefined when nothing was written. */
export async function readLastWords(path: string, isDead: boolean): Promise<LastWords | undefined> {
  const endNs = nowNs() + WAIT_MS * 1e6;
  for (;;) {
    const words = read(path);
    if (!isDead || words?.ended !== undefined || nowNs() >= endNs) return words;
    await sleep(10);
  }
}

function read(path: string): LastWords | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LastWords;
  } catch {
    return undefined;
  }
}
