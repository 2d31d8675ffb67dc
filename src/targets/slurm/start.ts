import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { LockstepError } from '#core/errors/index.ts';
import { thisOwner } from '../host/index.ts';
import { parseEnv } from '../tritonserver/index.ts';
import { registerForCleanup } from '../watchdog/index.ts';
import { sweep } from './cancel.ts';
import { jobScript, sbatchArguments } from './job-script.ts';
import { planLaunch } from './launch.ts';
import { SlurmServer, type SlurmServerOptions } from './server.ts';
import { jobNames, layFolder, maySubmit, submit, submitEnvironment } from './submit.ts';

/**
 * Submits a job that runs tritonserver, and waits until server, models and one answer are there.
 *
 * Errors: of Slurm's programs (slurm-command.ts), `job-never-starts`, `job-ended`, `model-load-failed`, `port-taken`, `node-unreachable`,
 * `target-not-ready`, `canary-refused`, `interrupted`, those of `planLaunch`. The job is cancelled before the error is thrown.
 */
export async function startSlurmServer(options: SlurmServerOptions): Promise<SlurmServer> {
  const { settings, notice, signal, env } = options;
  const launch = planLaunch(settings, options.layout);
  const given = parseEnv(settings.env, env);
  const swept = await sweep(settings.jobDir);
  if (swept > 0) notice(`cancelled ${swept === 1 ? 'a job that a killed run' : `${swept} jobs that killed runs`} left`);
  const run = `${process.pid}-${randomBytes(6).toString('hex')}`;
  const names = jobNames(settings, run, thisOwner());
  const script = jobScript(launch, names);
  const registration = registerForCleanup({ jobs: { name: names.name }, dirs: [names.folder], shmPrefixes: [`lockstep_${run}`] });
  let id: string;
  try {
    layFolder(names, script);
    id = await submit(sbatchArguments(settings, launch, names), submitEnvironment(env, given), signal, names.name);
  } catch (thrown) {
    rmSync(names.folder, { recursive: true, force: true });
    // Slurm may have the job all the same: then it is the watchdog's.
    if (!maySubmit(thrown)) registration.release();
    throw thrown;
  }
  notice(`job ${id} is submitted`);
  const server = new SlurmServer({ options, launch, names, run, id, released: () => registration.release() });
  try {
    await server.start();
    return server;
  } catch (thrown) {
    // Why it did not start is what the reader needs; a job that could not be cancelled is left to the watchdog.
    await server.stop().catch(() => undefined);
    throw options.signal?.aborted === true ? interrupted(thrown) : thrown;
  }
}

function interrupted(thrown: unknown): LockstepError {
  const error = LockstepError.from(thrown);
  return error.code === 'interrupted' ? error : new LockstepError('interrupted', 'stopped while the job was starting', { cause: thrown });
}
