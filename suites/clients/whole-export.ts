import { LockstepError } from '#core/errors/index.ts';

const TRIES = 4;

/**
 * Runs a client until its profile export is whole, and says how often it was not.
 *
 * perf_analyzer 2.51 writes a number for every output of a model's configuration. For an output without elements it
 * takes what stands in free memory; where that is no number its JSON writer stops, the program ends with code 0, and
 * the file has a multiple of 64 KiB, often none (1 of 80 runs here; every run with
 * GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=255, which makes free memory NaN). No answer of the
 * server has a part in it, so the client is asked again. Errors: `client-export-cut` when it happens every time.
 */
export async function untilWhole<T>(run: () => Promise<T>): Promise<{ readonly value: T; readonly notes: readonly string[] }> {
  for (let cut = 0; ; cut++) {
    try {
      return { value: await run(), notes: cut === 0 ? [] : [`${cut} of its exports were cut`] };
    } catch (thrown) {
      if (!(thrown instanceof LockstepError) || thrown.code !== 'client-export-cut' || cut + 1 === TRIES) throw thrown;
    }
  }
}
