/** Words for the end of a job. */
import type { Job } from './job.ts';

export interface Ending {
  /** Completes "the job 12 …". */
  readonly text: string;
  readonly hint: string;
}

/** What rank.sh wrote of the server's end, or undefined when it was killed itself. */
export interface RankEnd {
  readonly rank: string;
  readonly code: string;
  /** It was told to stop. */
  readonly stopped: boolean;
}

const READ_LOG = 'Read the last log lines above.';

/** States as in squeue(1), JOB STATE CODES. */
export function describeEnd({ state, exitCode, reason, node }: Job, rank: RankEnd | undefined): Ending {
  const on = node === undefined ? '' : ` on ${node}`;
  switch (state) {
    case 'CANCELLED':
      return { text: `was cancelled${on}`, hint: 'Somebody ran scancel, or a rule of the cluster did; start it again.' };
    case 'TIMEOUT':
    case 'DEADLINE':
      return {
        text: `ran into its time limit${on} (${state})`,
        hint: 'Give it more with --time-limit; `sinfo -o "%R %l"` shows what a partition allows.',
      };
    case 'OUT_OF_MEMORY':
      return {
        text: `ran out of memory${on} (OUT_OF_MEMORY)`,
        hint: 'Ask for more, such as --slurm-arg=--mem=64G, or for a whole node: --slurm-arg=--exclusive --slurm-arg=--mem=0.',
      };
    case 'NODE_FAIL':
    case 'BOOT_FAIL':
      return {
        text: `lost its node${on} (${state})`,
        hint: `Start it again${node === undefined ? '' : `, without that node: --slurm-arg=--exclude=${node}`}.`,
      };
    case 'PREEMPTED':
    case 'REVOKED':
      return {
        text: `had to make room for another (${state})`,
        hint: 'Choose a partition or a QOS whose jobs are not preempted: --partition, --slurm-arg=--qos=NAME.',
      };
    case 'UNKNOWN':
      return { text: `is gone from the queue, and Slurm no longer knows how it ended${serverEnd(rank)}`, hint: READ_LOG };
    default:
      return { text: `ended: ${state}${on}, exit code ${codeText(exitCode)}${meaning(reason)}${serverEnd(rank)}`, hint: READ_LOG };
  }
}

/** `0:9` is signal 9, `3:0` is exit code 3; a shell reports signal N as 128 + N. */
function codeText(exitCode: string): string {
  const [code = 'unknown', signal = '0'] = exitCode.split(':');
  return signal === '0' ? code : `${code}, signal ${signal}`;
}

function meaning(reason: string): string {
  return ['', 'None', 'NonZeroExitCode'].includes(reason) ? '' : ` (${reason})`;
}

function serverEnd(rank: RankEnd | undefined): string {
  return rank === undefined ? '' : `; the server of rank ${rank.rank} ended with code ${rank.code}`;
}
