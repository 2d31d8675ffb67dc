/** Removal of jobs: by name, by id, of every owner that is dead. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { pollUntil, sleep } from '#core/deadline/index.ts';
import { lastWordsPath, ownerState } from '../host/index.ts';
import { isLive, readJob } from './job.ts';
import { slurm } from './slurm-command.ts';

/** Names of this project's jobs begin so, and those of their folders. */
export const JOB_PREFIX = 'lockstep-';
const COMMENT_PREFIX = 'lockstep:';
const OWNER_FILE = 'owner';

/** SIGTERM, and SIGKILL after the cluster's KillWait, which is 30 s where nobody changed it. */
const GONE_WITHIN_MS = 60_000;

export function ownerComment(owner: string): string {
  return `${COMMENT_PREFIX}${owner}`;
}

/** Cancels it and waits until it holds no node. Errors: those of `slurm`, `deadline`. */
export async function cancelJob(id: string): Promise<void> {
  await slurm('scancel', ['--quiet', id]);
  let everyMs = 50;
  await pollUntil({ ms: GONE_WITHIN_MS, everyMs: 0, what: `job ${id} to end after scancel` }, async (signal) => {
    if (!isLive(await readJob(id, signal))) return true;
    await sleep(everyMs, signal);
    everyMs = Math.min(2_000, everyMs * 1.5);
    return undefined;
  });
}

interface QueuedJob {
  readonly id: string;
  readonly name: string;
  readonly comment: string;
}

/** This user's jobs that this project submitted, by any run. */
async function listOwn(): Promise<readonly QueuedJob[]> {
  const text = await slurm('squeue', ['--noheader', `--user=${userInfo().username}`, '--format=%i|%j|%k']);
  return text
    .split('\n')
    .map((line) => line.trim().split('|'))
    .map(([id = '', name = '', comment = '']) => ({ id, name, comment }))
    .filter(({ name, comment }) => name.startsWith(JOB_PREFIX) && comment.startsWith(COMMENT_PREFIX));
}

/** Everything of one run; looked for again, since a submission may be under way while its owner is killed. Errors: those of `slurm`. */
export async function cancelRun(name: string): Promise<void> {
  for (let look = 0; look < 3; look += 1) {
    const found = (await listOwn()).filter((job) => job.name === name);
    if (found.length === 0 && look > 0) return;
    await Promise.all(found.map(({ id }) => cancelJob(id)));
    await sleep(300);
  }
}

/** What a killed run left: jobs and folders whose owner is dead. Gives how many jobs there were. Errors: those of `slurm`. */
export async function sweep(jobDir: string): Promise<number> {
  const all = await listOwn();
  const dead = all.filter(({ comment }) => ownerState(comment.slice(COMMENT_PREFIX.length)) === 'dead');
  await Promise.all(dead.map(({ id }) => cancelJob(id)));
  for (const { name } of dead) rmSync(jobWordsPath(name), { force: true });
  const inUse = new Set(all.filter((job) => !dead.includes(job)).map(({ name }) => name));
  for (const name of folders(jobDir)) {
    const folder = join(jobDir, name);
    if (!inUse.has(name) && ownerOf(folder) === 'dead') rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  return dead.length;
}

/** The file on this host in which a run keeps how its job ended. */
export function jobWordsPath(name: string): string {
  return lastWordsPath(`lockstep_${name.slice(JOB_PREFIX.length)}_`);
}

/** What a job's folder is told apart by: its name is the job's, and its file says whose it is. */
export const ownerFile = (folder: string) => join(folder, OWNER_FILE);

function folders(jobDir: string): string[] {
  try {
    return readdirSync(jobDir).filter((name) => name.startsWith(JOB_PREFIX));
  } catch {
    return [];
  }
}

function ownerOf(folder: string): ReturnType<typeof ownerState> {
  try {
    return ownerState(readFileSync(ownerFile(folder), 'utf8'));
  } catch {
    return 'of another host';
  }
}
