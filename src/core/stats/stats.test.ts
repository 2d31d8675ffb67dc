import fc from 'fast-check';
import { kaplanMeier } from './kaplan-meier.ts';
import { describe, expect, test } from 'vitest';
import { clopperPearsonUpper, formatBound, hazardBound, zeroDivergenceBound } from './index.ts';

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
  ])('proves a rate below %f with these many repeats and no fewer', (rate, counts) => {
    for (const [i, n] of counts.entries()) {
      const confidence = [0.9, 0.95, 0.99][i];
      expect(zeroDivergenceBound(n, confidence)).toBeLessThanOrEqual(rate);
      expect(zeroDivergenceBound(n - 1, confidence)).toBeGreaterThan(rate);
    }
  });
});

describe('Clopper-Pearson', () => {
  test('gives the known bounds for few divergences', () => {
    const perCent = (k: number, n: number) => (clopperPearsonUpper(k, n) * 100).toFixed(1);
    expect([perCent(1, 60), perCent(1, 300), perCent(3, 300), perCent(8, 1000)]).toEqual(['7.7', '1.6', '2.6', '1.4']);
  });

  test('agrees with the closed forms at both ends', () => {
    expect(clopperPearsonUpper(0, 299)).toBeCloseTo(zeroDivergenceBound(299), 12);
    expect(clopperPearsonUpper(7, 7)).toBe(1);
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

test('the share still equal and its interval are those of lifelines 0.30 (KaplanMeierFitter)', () => {
  const times = [3, 3, 5, 6, 6, 6, 8, 9, 10, 10];
  const events = [1, 0, 1, 1, 1, 0, 0, 1, 0, 0];
  // One that parts at token t was equal up to the token before it.
  const followed = times.map((t, i) => ({ tokens: events[i] === 1 ? t - 1 : t, parted: events[i] === 1 }));
  const rounded = kaplanMeier(followed).map(({ token, equal, low, high, atRisk, parted }) => [
    token,
    ...[equal, low, high].map((v) => Number(v.toFixed(6))),
    atRisk,
    parted,
  ]);
  expect(rounded).toEqual([
    [3, 0.9, 0.473009, 0.985281, 10, 1],
    [5, 0.7875, 0.380882, 0.942591, 8, 1],
    [6, 0.5625, 0.209421, 0.809171, 7, 2],
    [9, 0.375, 0.068655, 0.698273, 3, 1],
  ]);
});

test('where all have parted none is still equal, and where none has there is no step', () => {
  expect(kaplanMeier([{ tokens: 0, parted: true }])).toMatchObject([{ token: 1, equal: 0, low: 0, high: 0 }]);
  expect(kaplanMeier([{ tokens: 9, parted: false }])).toEqual([]);
});
