/** From a job in the queue to a server that is reached from here. */
import { connect } from 'node:net';
import { nowNs } from '#core/clock/index.ts';
import { sleep, withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { findLoadFailure, findPortTaken, loadFailed } from '../tritonserver/index.ts';
import type { Endpoints } from '../types.ts';
import { tcpOpen, waitForAll } from '../wait.ts';
import type { JobFolder, NodeFacts } from './job-folder.ts';
import { FILES } from './job-script.ts';
import { nodeAddress } from './job.ts';
import { neverStarts, pendingText } from './pending.ts';
import type { JobWatch } from './watch.ts';

/** What listens on its node and cannot be connected to from here for so long is behind something. */
const REACHED_WITHIN_MS = 10_000;
const REASON_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 100;

export interface Arriving {
  readonly id: string;
  readonly folder: JobFolder;
  readonly watch: JobWatch;
  /** Where it runs, once that is known. */
  readonly node?: string;
  readonly signal: AbortSignal | undefined;
}

/** As messages call a job. */
export function jobCalled(id: string, node?: string): string {
  return `job ${id}${node === undefined ? '' : ` on ${node}`}`;
}

/** Waits in the queue, and says why the job is there. Errors: `job-never-starts`, `target-not-ready`, those of `refuseEnded`. */
export async function untilStarted(
  job: Arriving,
  options: { readonly ms: number; readonly notice: (line: string) => void },
): Promise<void> {
  const { id, watch, signal } = job;
  let told = '';
  const deadline = {
    ms: options.ms,
    signal,
    // Read when the deadline passes.
    get what() {
      return `the job to start: ${pendingText(watch.job.state, watch.job.reason)}`;
    },
  };
  await withDeadline(deadline, async (inner) => {
    for (;;) {
      refuseEnded(job);
      const { state, reason } = watch.job;
      if (!['PENDING', 'CONFIGURING'].includes(state)) return;
      const hint = neverStarts(reason);
      if (hint !== undefined) {
        throw new LockstepError('job-never-starts', `job ${id} will not start by waiting: ${pendingText(state, reason)}`, { hint });
      }
      const text = pendingText(state, reason);
      if (text !== told && reason !== 'None') options.notice(`job ${id} is ${text}`);
      told = text;
      await sleep(LOOK_EVERY_MS, inner);
    }
  }).catch((thrown: unknown) => {
    const error = LockstepError.from(thrown);
    if (error.code !== 'deadline') throw error;
    throw new LockstepError('target-not-ready', error.message.replace(/^\[deadline\] /, ''), {
      hint: `\`squeue --start --job\` tells when Slurm means to start it; wait longer with --queue-minutes, or ask for less.`,
      cause: error,
    });
  });
}

/**
 * Of a job that runs: rank.sh says where it listens; models may load for minutes before it does, and from then on it must be reached
 * from here. Errors: `target-not-ready`, `node-unreachable`, those of `refuseEnded`.
 */
export async function untilReached(job: Arriving, ms: number): Promise<{ readonly facts: NodeFacts; readonly endpoints: Endpoints }> {
  const beganNs = nowNs();
  const { folder, watch, signal } = job;
  const facts = await until(job, { ms, what: `rank 0 of job ${job.id} to say where it listens` }, () =>
    watch.files.has('node') ? folder.node() : undefined,
  );
  const host = await nodeAddress(facts.node, signal);
  const at = (port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const http = at(facts.http);
  const placed = { ...job, node: facts.node };
  const left = ms - (nowNs() - beganNs) / 1e6;
  await until(placed, { ms: left, what: `the server of ${jobCalled(job.id, facts.node)} to listen` }, () =>
    watch.files.has('listening') ? true : undefined,
  );
  try {
    await waitForAll([tcpOpen(http)], { ms: REACHED_WITHIN_MS, signal });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    refuseEnded(placed);
    if (error.code !== 'deadline') throw error;
    throw new LockstepError('node-unreachable', `the server listens on its node, and ${http} cannot be connected to from here`, {
      context: { why: await reasonOf(http) },
      hint: 'Run this where the nodes of the cluster are reached, such as a login node; a firewall in between must let ports 20000 to 31999 pass.',
      cause: error,
    });
  }
  return { facts, endpoints: { http, grpc: at(facts.grpc), metrics: at(facts.metrics), openai: undefined } };
}

/** Throws why it ended before it was ready. Errors: `model-load-failed`, `port-taken`, `job-ended`. */
export function refuseEnded({ id, node, folder, watch }: Arriving): void {
  const { ending, log, files } = watch;
  if (ending === undefined) return;
  const failure = findLoadFailure(log.lines());
  if (failure !== undefined) throw loadFailed(failure.model, failure.reason, log.tail());
  const port = findPortTaken(log.lines());
  if (port !== undefined) {
    throw new LockstepError('port-taken', `another program of ${jobCalled(id, node)} took a port first: ${port}`, {
      hint: 'Start it again: ports are drawn anew.',
    });
  }
  throw new LockstepError('job-ended', `${jobCalled(id, node)} ${ending.text}, before the server was ready`, {
    context: { log: log.tail() },
    hint: files.has(FILES.log)
      ? ending.hint
      : `It left no log in ${folder.path}: --job-dir must name a folder that this host and the nodes share.`,
  });
}

async function until<T>(job: Arriving, wait: { readonly ms: number; readonly what: string }, look: () => T | undefined): Promise<T> {
  try {
    return await withDeadline({ ...wait, signal: job.signal }, async (signal) => {
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        refuseEnded(job);
        await sleep(LOOK_EVERY_MS, signal);
      }
    });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code !== 'deadline') throw error;
    const { log, files } = job.watch;
    throw new LockstepError('target-not-ready', error.message.replace(/^\[deadline\] /, ''), {
      context: { log: log.tail() },
      hint: files.has(FILES.log)
        ? 'Read the last log lines above.'
        : `Look whether the nodes see ${job.folder.path}; --job-dir names a folder that they share with this host.`,
      cause: error,
    });
  }
}

/** Why a connection is not made: a name that nobody knows, a refusal, silence. */
async function reasonOf(address: string): Promise<string> {
  const cut = address.lastIndexOf(':');
  const socket = connect({
    host: address.slice(0, cut).replace(/^\[|\]$/g, ''),
    port: Number(address.slice(cut + 1)),
    timeout: REASON_WITHIN_MS,
  });
  return new Promise<string>((resolve) => {
    socket.once('connect', () => resolve('it answers now'));
    socket.once('timeout', () => resolve('no answer: packets are dropped on the way'));
    socket.once('error', (error) => resolve(error.message));
  }).finally(() => socket.destroy());
}
