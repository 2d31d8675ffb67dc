import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { runCommand } from '#targets/process/index.ts';
import { registerForCleanup } from '#targets/watchdog/index.ts';

const RECIPE = join(PACKAGE_ROOT, 'docker/slurm');
const CACHE = join(PACKAGE_ROOT, '.cache/slurm');
/** Packages are fetched the first time. */
const START_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 60_000;

export interface OwnCluster extends AsyncDisposable {
  /** Folder of Slurm's programs, to be put on PATH. */
  readonly bin: string;
  readonly version: string;
}

/**
 * A real Slurm of one node, this host, that nobody else uses (docker/slurm). Its folder is in /run: the path of a socket is short.
 *
 * Errors: `command-failed` with what start.sh said, `deadline`.
 */
export async function startOwnCluster(signal?: AbortSignal): Promise<OwnCluster> {
  const state = `/run/lockstep-slurm-${process.pid}-${randomBytes(2).toString('hex')}`;
  const stop = async () => void (await runCommand(join(RECIPE, 'stop.sh'), [state], { ms: STOP_WITHIN_MS, what: 'the own Slurm to end' }));
  // Should this process be killed, its daemons and their folder go all the same.
  const dirs = registerForCleanup({ dirs: [state] });
  try {
    await runCommand(join(RECIPE, 'start.sh'), [state, CACHE], { ms: START_WITHIN_MS, what: 'the own Slurm to start', signal });
    const pids = readdirSync(state)
      .filter((name) => name.endsWith('.pid'))
      .map((name) => Number(readFileSync(join(state, name), 'utf8')));
    if (pids.length !== 3)
      throw new LockstepError('internal', `munged, slurmctld and slurmd were to start, and ${pids.length} of them did`);
    const daemons = registerForCleanup({ pids });
    const bin = join(state, 'bin');
    const version = await runCommand(join(bin, 'scontrol'), ['--version'], { ms: 5_000, what: 'the version of Slurm' });
    return {
      bin,
      version: version.trim(),
      [Symbol.asyncDispose]: async () => {
        await stop();
        daemons.release();
        dirs.release();
      },
    };
  } catch (thrown) {
    await stop();
    dirs.release();
    throw thrown;
  }
}
