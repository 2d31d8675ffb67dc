/** From settings to a job in the queue. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { shownArguments } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { makeFolders, writeFileAtomic } from '#core/files/index.ts';
import { SWITCHES } from '#core/identity/index.ts';
import { thisOwner } from '../host/index.ts';
import type { TritonLayout } from '../process/index.ts';
import { JOB_PREFIX, cancelRun, ownerComment, ownerFile } from './cancel.ts';
import { FILES, type JobNames, jobScript, sbatchArguments } from './job-script.ts';
import { planLaunch } from './launch.ts';
import { shellWord } from './shell-word.ts';
import { slurm } from './slurm-command.ts';
import type { SlurmSettings } from './settings.ts';

/** What would be submitted, as text for a terminal. Errors: those of `planLaunch`. */
export function describeSubmission({
  settings,
  layout,
}: {
  readonly settings: SlurmSettings;
  readonly layout: TritonLayout | undefined;
}): string {
  // Keys among the server's arguments are shown nowhere.
  const launch = planLaunch({ ...settings, serverArgs: shownArguments(settings.serverArgs) }, layout);
  const names = jobNames(settings, 'RUN', 'OWNER');
  return [
    `sbatch ${sbatchArguments(settings, launch, names).map(shellWord).join(' ')}`,
    '',
    `# ${names.folder}/${FILES.script}`,
    jobScript(launch, names),
  ].join('\n');
}

export function jobNames({ jobDir }: Pick<SlurmSettings, 'jobDir'>, run: string, owner: string): JobNames {
  const name = `${JOB_PREFIX}${run}`;
  return { name, comment: ownerComment(owner), folder: join(jobDir, name) };
}

/** Its user's alone: arguments of a server can hold keys. */
export function layFolder({ folder }: JobNames, script: string): void {
  try {
    makeFolders(join(folder, '..'));
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    throw new LockstepError('file-not-writable', `cannot make the folder of the job: ${(thrown as Error).message}`, {
      hint: 'Give --job-dir a folder that this user may write to, on a file system that the nodes share.',
      cause: thrown,
    });
  }
  writeFileAtomic(ownerFile(folder), thisOwner());
  writeFileAtomic(join(folder, FILES.script), script);
  // The nodes' own environment, or that of an image, can hold them too.
  writeFileAtomic(join(folder, FILES.switches), SWITCHES.join(' '));
  copyFileSync(join(import.meta.dirname, FILES.rank), join(folder, FILES.rank));
}

/** A job inherits the environment of sbatch: the run's own settings are nobody's business there. */
export function submitEnvironment(env: NodeJS.ProcessEnv, given: readonly string[]): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(?:LOCKSTEP_|VITEST|NODE_OPTIONS$)/.test(name));
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(given.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
  };
}

export async function submit(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
  name: string,
): Promise<string> {
  try {
    const text = await slurm('sbatch', args, { env, signal });
    // `id`, or `id;cluster`; warnings of plugins may stand before it.
    const id = /^(\d+)(?:;.*)?$/m.exec(text)?.[1];
    if (id !== undefined) return id;
    throw new LockstepError('slurm-refused', `sbatch gives no job id: ${text.trim()}`, {
      hint: 'Leave out of --slurm-arg what changes what sbatch prints, such as --wrap or --test-only.',
    });
  } catch (thrown) {
    if (maySubmit(thrown)) await cancelRun(name).catch(() => undefined);
    throw thrown;
  }
}

/** Whether a submission that failed so may have reached the queue. */
export function maySubmit(thrown: unknown): boolean {
  return ['interrupted', 'deadline', 'slurm-refused', 'slurm-unreachable'].includes(LockstepError.from(thrown).code);
}
