import { FLOAT32_RESOLUTION } from '#core/stats/index.ts';

/** How much a target's numbers move between runs of the same ids. */
export interface Noise {
  /** The largest change of a chosen token's log-probability, at least the float32 resolution. */
  readonly e: number;
  /** Positions that were compared; 0: `e` is the resolution alone and nothing was measured. */
  readonly positions: number;
}

export const NO_NOISE: Noise = { e: FLOAT32_RESOLUTION, positions: 0 };

/**
 * Measures noise from repeats of one request, for positions before any divergence: there the inputs of the model are
 * equal and every difference is arithmetic. An argmax can flip only where the margin is below 2e.
 */
export function measureNoise(
  groups: Iterable<readonly { readonly ids: ArrayLike<number>; readonly logProbs: ArrayLike<number> }[]>,
): Noise {
  let e = FLOAT32_RESOLUTION;
  let positions = 0;
  for (const [first, ...others] of groups) {
    if (first === undefined) continue;
    for (const other of others) {
      const n = Math.min(first.ids.length, other.ids.length, first.logProbs.length, other.logProbs.length);
      for (let i = 0; i < n && first.ids[i] === other.ids[i]; i++) {
        e = Math.max(e, Math.abs((first.logProbs[i] as number) - (other.logProbs[i] as number)));
        positions++;
      }
    }
  }
  return { e, positions };
}
