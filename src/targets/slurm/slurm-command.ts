import { LockstepError } from '#core/errors/index.ts';
import { runCommand } from '../host/index.ts';
import { slurmError } from './slurm-error.ts';

type Program = 'sbatch' | 'scancel' | 'scontrol' | 'sinfo' | 'squeue' | 'sacct';

export interface SlurmCommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/** A controller under load answers after seconds; the clients themselves give up after some tens of them. */
const WITHIN_MS = 60_000;

/**
 * Runs one of Slurm's programs and gives its output.
 *
 * Errors: `slurm-missing`, those of slurm-error.ts (what Slurm says rides on each), `deadline`, `interrupted`.
 */
export async function slurm(program: Program, args: readonly string[], options: SlurmCommandOptions = {}): Promise<string> {
  try {
    return await runCommand(program, args, { ms: WITHIN_MS, what: `${program} to answer`, ...options });
  } catch (thrown) {
    if (options.signal?.aborted) throw new LockstepError('interrupted', `stopped while ${program} ran`, { cause: thrown });
    const error = LockstepError.from(thrown);
    if (error.code !== 'command-failed') throw error;
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') {
      throw slurmError(program, String(error.context['output'] ?? '').trim());
    }
    throw new LockstepError('slurm-missing', `there is no ${program} on PATH`, {
      hint: 'Run it on a login node of the cluster, where Slurm is installed; `module load slurm` brings it on some.',
      cause: error,
    });
  }
}
