/** The watchdog's process: reads registrations, waits for the end of its input, removes what was not released. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { nowNs } from '#core/clock/index.ts';
import { type ProcessRow, findDescendants, findLiving, isLiving, killRow } from '../host/index.ts';
import type { Cleanup, WatchdogMessage } from './messages.ts';
import { removeContainers } from './remove-containers.ts';

const LOOK_EVERY_MS = 1_000;
/** A controller that does not answer is asked for so long. */
const JOBS_GRACE_MS = 10_000;
const TERM_GRACE_NS = 2e9;
const SHARED_MEMORY = '/dev/shm';

/** Processes are remembered with their start time and their families, which a dead parent no longer leads to. */
interface Entry {
  readonly cleanup: Cleanup;
  family: readonly ProcessRow[];
}

const entries = new Map<number, Entry>();

// A terminal's Ctrl-C and a closed terminal reach the runner's group; this process outlives both.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const timer = setInterval(() => {
  for (const entry of entries.values()) entry.family = familyOf(entry);
}, LOOK_EVERY_MS);

for await (const line of createInterface({ input: process.stdin })) receive(JSON.parse(line) as WatchdogMessage);
clearInterval(timer);
await clean([...entries.values()]);

function receive(message: WatchdogMessage): void {
  if (message.kind === 'release') {
    entries.delete(message.id);
    return;
  }
  const entry: Entry = { cleanup: message.cleanup, family: message.family };
  entry.family = familyOf(entry);
  entries.set(message.id, entry);
}

function familyOf(entry: Entry): readonly ProcessRow[] {
  const known = new Map<number, ProcessRow>();
  for (const row of [...entry.family.filter(isLiving), ...(entry.cleanup.marks ?? []).flatMap(findLiving)]) {
    known.set(row.pid, row);
    for (const child of findDescendants(row.pid)) known.set(child.pid, child);
  }
  known.delete(process.pid);
  return [...known.values()];
}

async function clean(left: readonly Entry[]): Promise<void> {
  const containers = Promise.all(
    left.flatMap(({ cleanup: { containers: of } }) =>
      of === undefined ? [] : [removeContainers(of.socket, of.label).catch(() => undefined)],
    ),
  );
  const jobs = Promise.all(left.map(({ cleanup }) => cancelJobs(cleanup)));
  const rows = left.flatMap(familyOf);
  for (const row of rows) terminate(row);
  const endNs = nowNs() + TERM_GRACE_NS;
  while (rows.some(isLiving) && nowNs() < endNs) await pause(50);
  for (const row of [...rows, ...left.flatMap(familyOf)]) killRow(row);
  // The server of a job ends too when its folder goes.
  await Promise.all([Promise.race([jobs, pause(JOBS_GRACE_MS)]), freeClocks(left)]);
  for (const { cleanup } of left) {
    for (const dir of cleanup.dirs ?? []) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    for (const prefix of cleanup.shmPrefixes ?? []) removeShared(prefix);
  }
  await containers;
}

/** A controller that does not answer has nothing to ask; what it runs is swept by the next run. */
async function cancelJobs({ jobs }: Cleanup): Promise<void> {
  if (jobs === undefined) return;
  const { cancelRun } = await import('../slurm/index.ts');
  await cancelRun(jobs.name).catch(() => undefined);
}

/** Once for all: the clocks are the host's. A driver that refuses has been asked, and nobody is left to be told. */
async function freeClocks(left: readonly Entry[]): Promise<void> {
  if (!left.some(({ cleanup }) => cleanup.gpuClocks)) return;
  const { resetGpuClocks } = await import('../process/gpu-clocks.ts');
  await resetGpuClocks().catch(() => undefined);
}

function removeShared(prefix: string): void {
  if (!existsSync(SHARED_MEMORY)) return;
  for (const name of readdirSync(SHARED_MEMORY)) if (name.startsWith(prefix)) rmSync(join(SHARED_MEMORY, name), { force: true });
}

function terminate(row: ProcessRow): void {
  if (!isLiving(row)) return;
  try {
    process.kill(row.pid, 'SIGTERM');
  } catch {
    // It ended between the look and the signal.
  }
}
