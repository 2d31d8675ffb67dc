import { isLiving, readLastWords } from './host/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import type { Health, ProcessRef } from './types.ts';

const CAUSE_AFTER_DEATH_MS = 1_500;
const LOOK_EVERY_MS = 50;

/**
 * Looks at processes by their ids, from wherever it is called: real servers go on saying "ready" with a dead Python
 * stub (docs/observed.md#triton-2-51), so the replies prove nothing.
 */
export async function healthOf(processes: readonly ProcessRef[]): Promise<Health> {
  const witness = processes.find((p) => p.lastWords !== undefined);
  const early = witness?.lastWords === undefined ? undefined : await readLastWords(witness.lastWords, false);
  // A container whose engine went away may run on and is lost all the same: its end is told by what is written.
  const dead = processes.filter((p) => !isAlive(p) || (p === witness && early?.ended !== undefined));
  if (dead.length === 0) return { alive: true, detail: '' };
  // Why a part of it died may be told a moment later: memory that ran out is an event of the engine.
  if (witness !== undefined && !dead.includes(witness)) await causeOf(witness);
  const words = witness?.lastWords === undefined ? undefined : await readLastWords(witness.lastWords, dead.includes(witness));
  if (witness !== undefined && words?.ended !== undefined && !dead.includes(witness)) dead.unshift(witness);
  // What a dead server takes along says nothing more.
  const told = witness !== undefined && dead.includes(witness) ? [witness] : dead;
  const ends = told.map((p) => [nameOf(p), (p === witness ? words?.ended : undefined) ?? 'is dead'].join(' '));
  return { alive: false, detail: [ends.join('; '), words?.log ?? ''].filter((line) => line !== '').join('\n') };
}

/**
 * Until the server itself is dead or said to be, or had the time for it: the first process of a container ends after all others
 * in it, and its end reaches the engine, and whoever writes it down, later still.
 */
async function causeOf(witness: ProcessRef): Promise<void> {
  const endNs = nowNs() + CAUSE_AFTER_DEATH_MS * 1e6;
  while (isAlive(witness) && nowNs() < endNs) {
    await sleep(LOOK_EVERY_MS);
    if (witness.lastWords !== undefined && (await readLastWords(witness.lastWords, false))?.ended !== undefined) return;
  }
}

function nameOf({ name, pid }: ProcessRef): string {
  return pid === undefined ? name : `${name} (process ${pid})`;
}

/** A zombie still has a pid, but nothing runs in it; and a pid can be another's by now, hence the start time. */
function isAlive({ pid, startTicks }: ProcessRef): boolean {
  if (pid === undefined) return true;
  if (startTicks !== undefined) return isLiving({ pid, startTicks });
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
