/** Whose a container or a job is, as a text that it carries: a process for good, on one host. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isLiving, readProcess } from './process-table.ts';

/** In place of an owner: nobody's, until somebody stops it by hand. */
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

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
