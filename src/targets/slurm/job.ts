/** What Slurm says of one job. */
import { LockstepError } from '#core/errors/index.ts';
import { slurm } from './slurm-command.ts';

export interface Job {
  /** PENDING, RUNNING, COMPLETING, FAILED, …; UNKNOWN where Slurm has forgotten it. */
  readonly state: string;
  /** Why it is pending, or how it failed. */
  readonly reason: string;
  /** `code:signal`. */
  readonly exitCode: string;
  /** The node that runs the first rank. */
  readonly node: string | undefined;
}

const LIVE = ['PENDING', 'CONFIGURING', 'RUNNING', 'COMPLETING', 'SUSPENDED', 'RESIZING', 'SIGNALING', 'STAGE_OUT', 'STOPPED'];
const GONE: Job = { state: 'UNKNOWN', reason: '', exitCode: '', node: undefined };

/** Whether it holds, or may come to hold, nodes. */
export function isLive({ state }: Job): boolean {
  return LIVE.includes(state);
}

/**
 * Asks the controller, which remembers a finished job for minutes, then the accounting, which many clusters have.
 * Errors: those of `slurm`.
 */
export async function readJob(id: string, signal?: AbortSignal): Promise<Job> {
  try {
    return parseJob(await slurm('scontrol', ['show', 'job', '--oneliner', id], { signal }));
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (!/Invalid job id/i.test(String(error.context['slurm'] ?? ''))) throw error;
  }
  try {
    const [state = '', exitCode = ''] = (
      await slurm('sacct', ['--noheader', '--parsable2', '--allocations', '--jobs', id, '--format=State,ExitCode'], { signal })
    ).split(/[|\n]/);
    // `CANCELLED by 1000`
    return state === '' ? GONE : { ...GONE, state: state.split(' ', 1)[0]!, exitCode };
  } catch (thrown) {
    signal?.throwIfAborted();
    if (LockstepError.from(thrown).code === 'slurm-unreachable') throw thrown;
    return GONE;
  }
}

/** One line of `scontrol show job --oneliner`. */
export function parseJob(text: string): Job {
  const field = (name: string) => new RegExp(`(?:^|\\s)${name}=(\\S*)`).exec(text)?.[1];
  const node = field('BatchHost');
  return {
    state: field('JobState') ?? 'UNKNOWN',
    reason: field('Reason') ?? '',
    exitCode: field('ExitCode') ?? '',
    node: node === undefined || node === '' || node === '(null)' ? undefined : node,
  };
}

/** Where Slurm itself reaches a node: its NodeAddr, else its name. */
export async function nodeAddress(node: string, signal?: AbortSignal): Promise<string> {
  try {
    const text = await slurm('scontrol', ['show', 'node', '--oneliner', node], { signal });
    return /\sNodeAddr=(\S+)/.exec(text)?.[1] ?? node;
  } catch {
    signal?.throwIfAborted();
    return node;
  }
}
