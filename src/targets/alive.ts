import { readFileSync } from 'node:fs';
import type { Health, ProcessRef } from './types.ts';

/**
 * Looks at processes by their ids, from wherever it is called: real servers go on saying "ready" with a dead Python
 * stub (docs/observed.md#triton-2-51), so the replies prove nothing.
 */
export function healthOf(processes: readonly ProcessRef[]): Health {
  const dead = processes.filter(({ pid }) => !isAlive(pid));
  return { alive: dead.length === 0, detail: dead.map((p) => `${p.name} (process ${p.pid}) is dead`).join('; ') };
}

/** A zombie still has a pid, but nothing runs in it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}
