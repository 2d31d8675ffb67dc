/** Labels that say whose a container is, set before it exists, so that there is no moment in which it is nobody's. */
import { existsSync, readFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLiving, readProcess } from '../process/process-table.ts';

/** Of every container: the run that started it. */
export const RUN_LABEL = 'lockstep.run';
/** Who removes it: a process, or `detached` for nobody but `lockstep stop`. */
export const OWNER_LABEL = 'lockstep.owner';
export const DETACHED = 'detached';

/** `pid:start ticks:boot id@host name`: a process for good, on this host. */
export function thisOwner(): string {
  return `${process.pid}:${readProcess(process.pid)?.startTicks ?? 0}:${bootId()}@${hostname()}`;
}

/** What is known of an owner from here: one of another host may be alive, whatever this host's processes are. */
export function ownerState(owner: string): 'living' | 'dead' | 'detached' | 'of another host' {
  if (owner === DETACHED) return 'detached';
  const match = /^(\d+):(\d+):([^@]*)@(.*)$/.exec(owner);
  if (match === null || match[4] !== hostname()) return 'of another host';
  if (match[3] !== bootId()) return 'dead';
  return isLiving({ pid: Number(match[1]), startTicks: Number(match[2]) }) ? 'living' : 'dead';
}

/** The file in which a run keeps how its container ended; removed with the container. */
export function lastWordsPath(run: string): string {
  return join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `lockstep_docker_${run}_last_words`);
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
