/** What is submitted: arguments of sbatch, and the script that calls srun. */
import { LockstepError } from '#core/errors/index.ts';
import type { Launch } from './launch.ts';
import { shellWord } from './shell-word.ts';
import type { SlurmSettings } from './settings.ts';

export interface JobNames {
  /** The job's own, of this run alone. */
  readonly name: string;
  /** Says who cancels it. */
  readonly comment: string;
  /** Absolute, on a file system that the nodes share. */
  readonly folder: string;
}

/** Files of a job's folder, beside those that rank.sh writes. */
export const FILES = { script: 'job.sh', rank: 'rank.sh', log: 'log', switches: 'switches' } as const;

/** Everything on the command line and nothing in `#SBATCH` lines, which know no quotes. */
export function sbatchArguments(settings: SlurmSettings, launch: Launch, names: JobNames): string[] {
  const { partition, account, timeLimit, gres } = settings;
  return [
    '--parsable',
    `--job-name=${names.name}`,
    `--comment=${names.comment}`,
    // A percent sign begins a pattern there.
    `--output=${`${names.folder}/${FILES.log}`.replaceAll('%', '%%')}`,
    '--open-mode=append',
    // A server that starts again by itself would have other ports than the ones the claims ask.
    '--no-requeue',
    `--nodes=${launch.nodes}`,
    `--ntasks=${launch.ranks}`,
    `--ntasks-per-node=${launch.ranks / launch.nodes}`,
    ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ...(account === undefined ? [] : [`--account=${account}`]),
    ...(timeLimit === undefined ? [] : [`--time=${timeLimit}`]),
    ...(gres === undefined ? [] : [`--gres=${gres}`]),
    ...settings.args,
    `${names.folder}/${FILES.script}`,
  ];
}

/** Errors: `mount-path-refused`. */
export function jobScript(launch: Launch, names: JobNames): string {
  const { programs, libraries } = launch.paths;
  const word = shellWord;
  return `${[
    '#!/bin/bash',
    '# Starts tritonserver in the allocation of this job, until the job is cancelled.',
    ...(launch.image === undefined && programs !== undefined
      ? ['# The Python stubs follow python3 on PATH.', 'unset PYTHONHOME PYTHONPATH VIRTUAL_ENV', `export PATH=${word(programs)}:"$PATH"`]
      : []),
    ...(launch.image === undefined && libraries !== undefined
      ? [`export LD_LIBRARY_PATH=${word(libraries)}"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`]
      : []),
    '# Since 22.05 srun does not take it over from sbatch.',
    'if [ -n "${SLURM_CPUS_PER_TASK:-}" ]; then export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"; fi',
    `exec srun ${srunArguments(launch, names).map(word).join(' ')} \\`,
    `  bash ${word(`${names.folder}/${FILES.rank}`)} ${word(names.folder)} \\`,
    `  ${launch.command.map(word).join(' ')}`,
  ].join('\n')}\n`;
}

/** Flags of srun, and of pyxis where there is an image (NVIDIA/pyxis wiki, Usage). */
function srunArguments({ ranks, image, mounts, envNames }: Launch, { folder }: JobNames): string[] {
  return [
    '--kill-on-bad-exit=1',
    ...(ranks > 1 ? ['--mpi=pmix'] : []),
    ...(image === undefined
      ? []
      : [
          `--container-image=${image}`,
          `--container-mounts=${[...mounts.map(({ source, target }) => mountText(source, target, ':ro')), mountText(folder, folder, '')].join(',')}`,
          '--no-container-mount-home',
          // NVIDIA's entry point prints a banner and takes the command as its own.
          '--no-container-entrypoint',
          ...(envNames.length === 0 ? [] : [`--container-env=${envNames.join(',')}`]),
        ]),
  ];
}

function mountText(source: string, target: string, flags: string): string {
  const path = [source, target].find((one) => /[,:\s]/.test(one));
  if (path === undefined) return `${source}:${target}${flags}`;
  throw new LockstepError('mount-path-refused', `pyxis mounts no path with a colon, a comma or a blank: ${path}`, {
    hint: 'Move it, or name a link to it.',
  });
}
