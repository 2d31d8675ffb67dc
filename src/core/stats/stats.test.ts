import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chanceToPass,
  chanceToSee,
  clopperPearsonInterval,
  clopperPearsonLower,
  clopperPearsonUpper,
  formatBound,
  hazardBound,
  pool,
  rankSum,
  sprt,
  trialsToProve,
  zeroDivergenceBound,
} from './index.ts';

describe('a run without divergence', () => {
  test('proves what the published sample sizes prove', () => {
    expect([4, 5, 32, 50, 1000].map((n) => formatBound(zeroDivergenceBound(n)))).toEqual(['53 %', '46 %', '9.0 %', '5.9 %', '0.30 %']);
    expect(zeroDivergenceBound(0)).toBe(1);
  });

  test.each([
    [0.1, [22, 29, 44]],
    [0.05, [45, 59, 90]],
    [0.01, [230, 299, 459]],
    [0.005, [460, 598, 919]],
    [0.001, [2302, 2995, 4603]],
  ])('needs these many repeats to prove a rate below %f', (rate, counts) => {
    expect([0.9, 0.95, 0.99].map((c) => trialsToProve(rate, c))).toEqual(counts);
  });

  test('sees a rate of 8 in 1,000 rarely with few repeats', () => {
    expect([5, 50, 100].map((n) => Math.round(chanceToSee(0.008, n) * 100))).toEqual([4, 33, 55]);
    expect(trialsToProve(0.008)).toBe(373);
  });
});

describe('Clopper-Pearson', () => {
  test('gives the known bounds for few divergences', () => {
    const perCent = (k: number, n: number) => (clopperPearsonUpper(k, n) * 100).toFixed(1);
    expect([perCent(1, 60), perCent(1, 300), perCent(3, 300), perCent(8, 1000)]).toEqual(['7.7', '1.6', '2.6', '1.4']);
  });

  test('gives the known intervals of a cancel storm', () => {
    expect(clopperPearsonInterval(2, 10).map((p) => p.toFixed(3))).toEqual(['0.025', '0.556']);
    expect(clopperPearsonInterval(6, 10).map((p) => p.toFixed(3))).toEqual(['0.262', '0.878']);
  });

  test('agrees with the closed forms at both ends', () => {
    expect(clopperPearsonUpper(0, 299)).toBeCloseTo(zeroDivergenceBound(299), 12);
    expect(clopperPearsonUpper(7, 7)).toBe(1);
    expect(clopperPearsonLower(0, 7)).toBe(0);
    expect(clopperPearsonLower(7, 7)).toBeCloseTo(0.05 ** (1 / 7), 12);
  });

  test('solves its own equation: P(X ≤ k) at the bound is 5 %', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(), (n, seed) => {
        const k = seed % (n >> 1);
        const p = clopperPearsonUpper(k, n);
        let term = (1 - p) ** n;
        let sum = term;
        for (let i = 1; i <= k; i++) {
          term *= ((n - i + 1) / i) * (p / (1 - p));
          sum += term;
        }
        expect(sum).toBeCloseTo(0.05, 8);
      }),
    );
  });
});

describe('hazard per token', () => {
  test('is three over the tokens when nothing diverged', () => {
    expect(formatBound(hazardBound(0, 30_000))).toBe('0.010 %');
    expect(hazardBound(0, 30_000)).toBeCloseTo(2.9957 / 30_000, 8);
  });

  test('follows the exact Poisson bound otherwise', () => {
    expect(hazardBound(1, 1)).toBe(1);
    expect(hazardBound(1, 1000) * 1000).toBeCloseTo(4.7439, 3);
    expect(hazardBound(10, 1000) * 1000).toBeCloseTo(16.9622, 3);
  });
});

describe('sequential test', () => {
  test('steps and stops as the default design says', () => {
    const t = sprt();
    expect(t.perEqual).toBeCloseTo(-0.0192, 4);
    expect(t.perDivergence).toBeCloseTo(2.996, 3);
    expect(t.rejectAt).toBeCloseTo(2.944, 3);
    expect(t.acceptAt).toBeCloseTo(-2.944, 3);
    expect([t.decide(153, 0), t.decide(154, 0)]).toEqual(['go-on', 'accept']);
    expect([t.decide(2, 1), t.decide(3, 1)]).toEqual(['reject', 'go-on']);
    expect([t.decide(158, 2), t.decide(159, 2)]).toEqual(['reject', 'go-on']);
    expect([t.decide(308, 1), t.decide(310, 1)]).toEqual(['go-on', 'accept']);
  });

  test('needs 309 equal pairs for a stricter design', () => {
    const t = sprt({ p0: 0.0005, p1: 0.01, alpha: 0.05, beta: 0.05 });
    expect([t.decide(308, 0), t.decide(309, 0)]).toEqual(['go-on', 'accept']);
  });
});

test('rerun until green lets faults through', () => {
  const percent = (p: number) => Number((p * 100).toFixed(1));
  expect([0.05, 0.1, 0.2].map((rate) => percent(chanceToPass(rate, 5, 1)))).toEqual([77.4, 59, 32.8]);
  expect([0.05, 0.1, 0.2].map((rate) => percent(chanceToPass(rate, 5, 4)))).toEqual([99.7, 97.2, 79.6]);
  expect(
    pool([
      { n: 5, k: 1 },
      { n: 5, k: 0 },
    ]),
  ).toEqual({ n: 10, k: 1 });
});

test('the rank-sum test tells shifted margins from equal ones', () => {
  const low = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08];
  const high = [1, 2, 3, 4, 5, 6, 7, 8];
  expect(rankSum(high, low)).toMatchObject({ u: 64 });
  expect(rankSum(high, low).pLarger).toBeCloseTo(0.00047, 4);
  expect(rankSum(low, high).u).toBe(0);
  expect(rankSum(low, low).pLarger).toBeCloseTo(0.5, 6);
});

describe('formatBound', () => {
  test('writes two digits and never less than the bound', () => {
    expect([0.07, 0.05, 0.00301, 0.0951, 0.527, 1, 0.999, 0].map(formatBound)).toEqual([
      '7.0 %',
      '5.0 %',
      '0.31 %',
      '9.6 %',
      '53 %',
      '100 %',
      '100 %',
      '0 %',
    ]);
    expect(formatBound(0.00003)).toBe('3.0e-5');
    expect(formatBound(0.0000301)).toBe('3.1e-5');
  });

  test('rounds up for every number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 0.99, noNaN: true }), (bound) => {
        const text = formatBound(bound);
        const value = text.endsWith(' %') ? Number(`${text.slice(0, -2)}e-2`) : Number(text);
        expect(value).toBeGreaterThanOrEqual(bound);
        expect(value).toBeLessThanOrEqual(bound * 1.12);
      }),
    );
  });
});
