import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { sha256 } from '../hash/index.ts';

/** A seeded source of randomness. Equal seeds give equal sequences on every platform. */
export interface Rng {
  /** A whole number, lo ≤ x ≤ hi. */
  int(lo: number, hi: number): number;
  /** 0 ≤ x < 1, with 53 random bits. */
  float(): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

/** A seed for a part of the work, from the run's seed and the part's name, so that parts do not disturb each other. */
export function deriveSeed(seed: number, label: string): number {
  return Number.parseInt(sha256(`${seed}:${label}`).slice(0, 8), 16) | 0;
}

export function rngFrom(seed: number, label = ''): Rng {
  const state = xoroshiro128plus(deriveSeed(seed, label));
  const float = () => ((state.next() >>> 5) * 67108864 + (state.next() >>> 6)) / 9007199254740992;
  const int = (lo: number, hi: number) => lo + Math.floor(float() * (hi - lo + 1));
  return {
    int,
    float,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('pick from an empty list');
      return items[int(0, items.length - 1)] as never;
    },
    shuffle: (items) => {
      const out = items.slice();
      for (let i = out.length - 1; i > 0; i--) {
        const j = int(0, i);
        [out[i], out[j]] = [out[j] as never, out[i] as never];
      }
      return out;
    },
  };
}

const MASK_64 = (1n << 64n) - 1n;

/**
 * Steele, Lea and Flood's splitmix64: a sequence of 64-bit numbers from a 64-bit seed, short enough that another
 * program can repeat it (docker/models/tensorrt_llm/1/sampling.py does).
 */
export interface SplitMix64 {
  next(): bigint;
  /** 0 ≤ x < 1, the upper 53 bits of `next`. */
  float(): number;
}

export function splitMix64(seed: bigint): SplitMix64 {
  let state = seed & MASK_64;
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK_64;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK_64;
    return z ^ (z >> 31n);
  };
  return { next, float: () => Number(next() >> 11n) / 2 ** 53 };
}
