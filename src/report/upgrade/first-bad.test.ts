import { describe, expect, test } from 'vitest';
import { rngFrom } from '#core/seed/index.ts';
import { type Candidate, firstBad } from './first-bad.ts';

const NAMES = Array.from({ length: 8 }, (_, i) => `v${i}`);
const candidate = (trial: () => boolean): Candidate => ({ trial: async () => trial(), [Symbol.asyncDispose]: async () => undefined });

describe('the first bad one of eight', () => {
  test.each([1, 2, 3, 4, 5, 6, 7])('is v%i, in three starts, and none is left open', async (planted) => {
    let [opened, closed] = [0, 0];
    const found = await firstBad(
      NAMES,
      async (index) => {
        opened++;
        return { trial: async () => index >= planted, [Symbol.asyncDispose]: async () => void closed++ };
      },
      { failureRate: 1 },
    );
    expect(found).toMatchObject({ first: `v${planted}`, before: `v${planted - 1}` });
    expect(opened).toBeLessThanOrEqual(3);
    expect(closed).toBe(opened);
  });

  test('is found when it fails three times in ten only, wrong no oftener than the test promises', async () => {
    const rng = rngFrom(1, 'flaky');
    let wrong = 0;
    const runs = 200;
    for (let run = 0; run < runs; run++) {
      const planted = rng.int(1, 7);
      const { first, tried } = await firstBad(NAMES, async (index) => candidate(() => rng.float() < (index >= planted ? 0.3 : 0.03)), {
        failureRate: 0.3,
      });
      if (first !== `v${planted}`) wrong++;
      expect(Math.max(...tried.map(({ trials }) => trials))).toBeGreaterThan(1);
    }
    // Three decisions, each wrong in 5 % at most.
    expect(wrong / runs).toBeLessThan(0.15);
  });

  test('a case that fails now and then on good ones is not taken for always failing', async () => {
    const rng = rngFrom(2, 'flaky');
    let wrong = 0;
    for (let run = 0; run < 200; run++) {
      const { first } = await firstBad(NAMES, async (index) => candidate(() => rng.float() < (index >= 4 ? 0.3 : 0.03)), {
        failureRate: 1,
      });
      if (first !== 'v4') wrong++;
    }
    // One trial each: what the sequential test is for.
    expect(wrong / 200).toBeGreaterThan(0.3);
  });
});
