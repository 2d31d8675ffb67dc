/** What Slurm's programs print → an error with a next step. The texts are those of src/common/slurm_errno.c, read in 22.05.8. */
import { LockstepError } from '#core/errors/index.ts';

interface Known {
  readonly words: RegExp;
  readonly error: (program: string, words: string) => LockstepError;
}

const KNOWN: readonly Known[] = [
  {
    words:
      /Unable to contact slurm controller|Could not establish a configuration source|Unable to establish co|Zero Bytes were transmitted|Socket timed out|Slurm backup controller in standby/i,
    error: (program, words) =>
      new LockstepError('slurm-unreachable', `${program} does not reach the controller of the cluster: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'Run it on a login node of the cluster, or look at `scontrol ping` and SLURM_CONF.',
      }),
  },
  {
    words: /munge|authentica(?:tion|te)|Invalid job credential/i,
    error: (program, words) =>
      new LockstepError('slurm-forbidden', `${program} is not let in: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'munge must run on this host with the key of the cluster; `munge -n | unmunge` shows it.',
      }),
  },
  {
    words: /invalid partition name|No partition specified/i,
    error: (program, words) =>
      new LockstepError('partition-unknown', `${program} knows no such partition: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'sinfo -o "%R %a %l" lists them; choose one with --partition.',
      }),
  },
  {
    words: /invalid account|Invalid qos|violates accounting|breached requested QOS/i,
    error: (program, words) =>
      new LockstepError('account-refused', `${program}: the account or its limits do not allow this job: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'sacctmgr show associations user=$USER lists what you may use; name it with --account, or --slurm-arg=--qos=NAME, or ask for less.',
      }),
  },
  {
    words: /time limit (?:is invalid|specification required)|time-min specification/i,
    error: (program, words) =>
      new LockstepError('time-limit-refused', `${program} does not take the time limit: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'Give --time-limit within what the partition allows: sinfo -o "%R %l".',
      }),
  },
  {
    words:
      /Requested (?:node|partition) configuration|Invalid generic resource|GRES option unsupported|processors requested than permitted|more tasks than available|(?:Node|Task) count specification|Memory (?:required|specification)|nodes? (?:not in this partition|name specified|not available)/i,
    error: (program, words) =>
      new LockstepError('resources-refused', `${program}: no node has what is asked for: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'sinfo -o "%R %D %c %m %G" shows what nodes have; correct --gres, --nodes, --partition or --slurm-arg.',
      }),
  },
  {
    words: /permission denied|not permitted|not allowed|Invalid user id/i,
    error: (program, words) =>
      new LockstepError('slurm-forbidden', `${program} is not allowed: ${reasonOf(words)}`, {
        context: { slurm: words },
        hint: 'Ask who runs the cluster for an account, or for access to this partition; --account and --partition name others.',
      }),
  },
];

/** The error for a program that ended with another code than 0, by what it printed. */
export function slurmError(program: string, words: string): LockstepError {
  return (
    KNOWN.find((known) => known.words.test(words))?.error(program, words) ??
    new LockstepError('slurm-refused', `${program} refuses: ${reasonOf(words)}`, {
      context: { slurm: words },
      hint: 'Slurm says above what it does not take; `lockstep check --target slurm --dry-run` prints all that is submitted.',
    })
  );
}

/** `sbatch: error: Batch job submission failed: Invalid partition name specified` → its last part. */
function reasonOf(words: string): string {
  const lines = words.split('\n');
  const line = lines.findLast((one) => /error|failed|denied/i.test(one)) ?? lines.at(-1) ?? '';
  return line.replace(/^(?:[a-z]+: )?(?:error|fatal): /, '').replace(/^Batch job submission failed: /, '') || 'it gives no reason';
}
