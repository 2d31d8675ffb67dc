import { LockstepError } from '#core/errors/index.ts';
import { registerForCleanup } from '../watchdog/index.ts';
import { runCommand } from '../host/index.ts';

const WITHIN_MS = 20_000;

/**
 * Pins the clocks of every GPU of this host to one frequency, and gives what makes them free again: a GPU that clocks down in
 * the middle of a run is another machine. Needs the rights to do so. The watchdog frees them after a runner that was killed.
 * Errors: `gpu-clocks-not-locked`.
 */
export async function lockGpuClocks(mhz: number, signal?: AbortSignal): Promise<{ reset(): Promise<void> }> {
  const smi = (args: readonly string[], what: string) => runCommand('nvidia-smi', args, { ms: WITHIN_MS, what, signal });
  // First: a runner may be killed between the lock and a word about it.
  const registration = registerForCleanup({ gpuClocks: true });
  try {
    await smi([`--lock-gpu-clocks=${mhz},${mhz}`], 'locking the GPU clocks');
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    // One that was interrupted or took too long may have locked them all the same.
    if (error.code !== 'command-failed') throw error;
    registration.release();
    const absent = /ENOENT/.test(error.message);
    throw new LockstepError(
      'gpu-clocks-not-locked',
      absent ? 'there is no nvidia-smi on this host' : `nvidia-smi did not lock the GPU clocks to ${mhz} MHz`,
      {
        hint: absent
          ? 'Leave --lock-gpu-clocks out, or run where the NVIDIA driver is installed.'
          : 'It needs root, and a frequency that `nvidia-smi -q -d SUPPORTED_CLOCKS` lists.',
        context: { output: error.context['output'] },
        cause: error,
      },
    );
  }
  return {
    reset: async () => {
      await resetGpuClocks();
      registration.release();
    },
  };
}

/** Of every GPU of this host. Takes no signal: a run is over, interrupted or not, and this has to be done. Errors: `command-failed`, `deadline`. */
export async function resetGpuClocks(): Promise<void> {
  await runCommand('nvidia-smi', ['--reset-gpu-clocks'], { ms: WITHIN_MS, what: 'freeing the GPU clocks' });
}
