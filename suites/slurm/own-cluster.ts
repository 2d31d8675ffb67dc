import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { runCommand } from '#targets/host/index.ts';

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
  try {
    // Should this process be killed, what start.sh started ends all the same.
    await runCommand(join(RECIPE, 'start.sh'), [state, CACHE, String(process.pid)], {
      ms: START_WITHIN_MS,
      what: 'the own Slurm to start',
      signal,
    });
    const bin = join(state, 'bin');
    const version = await runCommand(join(bin, 'scontrol'), ['--version'], { ms: 5_000, what: 'the version of Slurm' });
    return { bin, version: version.trim(), [Symbol.asyncDispose]: stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}
