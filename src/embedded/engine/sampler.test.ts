import { expect, test } from 'vitest';
import { createSampler, unseededSeeds } from './sampler.ts';
import { logSumExp } from './shaper.ts';
import { makeRequest } from './testing.ts';
import type { EngineRequest, EngineSampling } from './types.ts';

const LOGITS = Float64Array.from([0.1, 0.4, 0.2, 0.3].map(Math.log));
const DRAWS = 4000;
const none = new Set<string>();

function firstOf(request: EngineRequest, seed: bigint, logits: Float64Array): number {
  return createSampler(request, seed, logits.length, none).next(logits, Int32Array.of(3), 1);
}

/** Share of each id over many seeds. */
function shares(sampling: EngineSampling, logits = LOGITS): number[] {
  const counts = Array.from(logits, () => 0);
  for (let seed = 0n; seed < DRAWS; seed++) {
    counts[firstOf(makeRequest([3], { sampling }), seed, logits)]! += 1;
  }
  return counts.map((count) => count / DRAWS);
}

// Five standard errors of a share at 4,000 draws: 5 · sqrt(0.25 / 4000).
const WITHIN = 0.04;
/** The largest difference of a share; infinite where an id came that must not. */
const worstGap = (got: readonly number[], wanted: readonly number[]) =>
  Math.max(...got.map((share, id) => (wanted[id] === 0 && share > 0 ? Infinity : Math.abs(share - wanted[id]!))));

test.each<readonly [string, EngineSampling]>([
  ['nothing', {}],
  ['a temperature alone', { temperature: 5 }],
  ['top_k 0 and top_p 0', { topK: 0, topP: 0, temperature: 3 }],
  ['top_k 1', { topK: 1, topP: 0.9, temperature: 3 }],
  ['temperature 0 with top_k', { temperature: 0, topK: 3, topP: 0.9 }],
  ['temperature 0 alone', { temperature: 0 }],
])('%s is greedy', (_, sampling) => expect(shares(sampling)).toEqual([0, 1, 0, 0]));

test('temperature 0 with top_p alone draws from the full distribution', () => {
  expect(worstGap(shares({ temperature: 0, topP: 0.01 }), [0.1, 0.4, 0.2, 0.3])).toBeLessThan(WITHIN);
});

test('top_k keeps the k largest in proportion', () => {
  expect(worstGap(shares({ topK: 2 }), [0, 4 / 7, 0, 3 / 7])).toBeLessThan(WITHIN);
});

test('top_p cuts the weight, not the count: the last id in gets what is left', () => {
  expect(worstGap(shares({ topP: 0.5 }), [0, 0.8, 0, 0.2])).toBeLessThan(WITHIN);
});

test('temperature 2 flattens by square roots', () => {
  const roots = [0.1, 0.4, 0.2, 0.3].map(Math.sqrt);
  const sum = roots.reduce((a, b) => a + b, 0);
  expect(
    worstGap(
      shares({ topP: 1, temperature: 2 }),
      roots.map((root) => root / sum),
    ),
  ).toBeLessThan(WITHIN);
});

test('greedy ties go to the lowest id', () => {
  const logits = Float64Array.from([0, 2, 1, 2]);
  expect(firstOf(makeRequest([3]), 0n, logits)).toBe(1);
});

test('seeds of requests without one follow from their order since the start', () => {
  const first = unseededSeeds();
  const second = unseededSeeds();
  const values = [first(), first(), first()];
  expect(new Set(values).size).toBe(3);
  expect([second(), second(), second()]).toEqual(values);
});

test('log-probabilities are the log-softmax', () => {
  LOGITS.forEach((value, id) => expect(LOGITS[id]! - logSumExp(LOGITS)).toBeCloseTo(value, 14));
  expect(1000 - logSumExp(Float64Array.from([1000, 1000]))).toBeCloseTo(-Math.LN2, 12);
});

test('log-probabilities are those of the shaped logits', () => {
  const sampler = createSampler(makeRequest([3], { sampling: { temperature: 2 } }), 0n, 4, none);
  const roots = [0.1, 0.4, 0.2, 0.3].map((p) => p ** (1 / 2.000001));
  expect(sampler.next(LOGITS, Int32Array.of(3), 1)).toBe(1);
  expect(sampler.logProbability(1)).toBeCloseTo(Math.log(roots[1]! / roots.reduce((a, b) => a + b)), 12);
});

/** Which ids of LOGITS can come as the n-th: the head that holds p of the weight is {1}, {1,3}, {1,3,2} or all. */
function heads(sampling: EngineSampling, steps: number): string[] {
  const seen = Array.from({ length: steps }, () => new Set<number>());
  for (let seed = 0n; seed < 300n; seed++) {
    const sampler = createSampler(makeRequest([3], { sampling }), seed, 4, none);
    for (const ids of seen) ids.add(sampler.next(LOGITS, Int32Array.of(3), 1));
  }
  return seen.map((ids) => [...ids].toSorted((a, b) => a - b).join(''));
}

test('top_p decays after each id, down to its minimum, and not beside top_k', () => {
  expect(heads({ topP: 1, topPDecay: 0.6, topPMin: 0.5 }, 3)).toEqual(['0123', '13', '13']);
  expect(heads({ topP: 1, topPDecay: 0.6 }, 3)).toEqual(['0123', '13', '1']);
  expect(heads({ topP: 1, topK: 4, topPDecay: 0.6 }, 3)).toEqual(['0123', '0123', '0123']);
});

test('the reset id sets top_p back', () => {
  expect(heads({ topP: 1, topPDecay: 0.3, topPResetId: 1 }, 2)[1]).toBe('0123');
  const after = (first: number) => {
    const ids = new Set<number>();
    for (let seed = 0n; seed < 600n; seed++) {
      const sampler = createSampler(makeRequest([3], { sampling: { topP: 1, topPDecay: 0.3, topPResetId: 1 } }), seed, 4, none);
      if (sampler.next(LOGITS, Int32Array.of(3), 1) === first) ids.add(sampler.next(LOGITS, Int32Array.of(3), 1));
    }
    return [...ids].toSorted((a, b) => a - b);
  };
  expect(after(1)).toEqual([0, 1, 2, 3]);
  expect(after(3)).toEqual([1]);
});
