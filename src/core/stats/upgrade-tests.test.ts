/** Check values of statsmodels 0.14 (`survdiff`, `multipletests`) and scipy 1.1x (`mannwhitneyu`, `chi2`, `norm`, `binomtest`). */
import { describe, expect, test } from 'vitest';
import {
  benjaminiHochberg,
  chiSquareTail,
  holm,
  logRank,
  mcnemarExact,
  medianInterval,
  normalTail,
  rankSumLower,
  sequentialTest,
  type Watched,
} from './index.ts';

const strata = (times: readonly number[], events: readonly number[], groups: readonly number[], of: (i: number) => number) => [
  ...Map.groupBy(
    times.map((time, i): Watched & { readonly stratum: number } => ({
      time,
      event: events[i] === 1,
      treated: groups[i] === 1,
      stratum: of(i),
    })),
    ({ stratum }) => stratum,
  ).values(),
];

describe('log-rank', () => {
  const times = [
    59, 115, 156, 421, 431, 448, 464, 475, 477, 563, 638, 744, 769, 770, 803, 855, 1040, 1106, 1129, 1206, 1227, 268, 329, 353, 365, 377,
  ];
  const events = [1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0];
  const groups = [1, 1, 1, 2, 1, 1, 2, 2, 1, 2, 1, 2, 2, 2, 1, 1, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2];
  const residual = [2, 2, 2, 2, 2, 1, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 2, 1, 1, 2, 1, 2, 2, 1];

  test('of two groups', () => {
    const { chiSquare, p } = logRank(strata(times, events, groups, () => 0));
    expect(chiSquare).toBeCloseTo(2.1300430624805045, 10);
    expect(p).toBeCloseTo(0.14443669815492222, 10);
  });

  test('stratified', () => {
    const { chiSquare, p } = logRank(strata(times, events, groups, (i) => residual[i]!));
    expect(chiSquare).toBeCloseTo(8.297441806131825, 10);
    expect(p).toBeCloseTo(0.003970096327386319, 10);
  });

  test('with many ties in small strata, as prompts have', () => {
    const t = [8, 6, 6, 8, 5, 7, 7, 2, 1, 3, 3, 7, 8, 1, 4, 7, 2, 7, 1, 4, 7, 3, 3, 3, 6, 3, 8, 4, 4, 5, 5, 5, 5, 8, 7, 7, 6, 5, 3, 8];
    const e = [0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0];
    const g = [1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1];
    const { chiSquare, p } = logRank(strata(t, e, g, (i) => i >> 3));
    expect(chiSquare).toBeCloseTo(0.17567761365266021, 10);
    expect(p).toBeCloseTo(0.6751144517531772, 10);
  });

  test('tells nothing where nothing diverged', () => {
    expect(logRank([[{ time: 5, event: false, treated: true }]])).toMatchObject({ observed: 0, chiSquare: 0, p: 1 });
  });
});

test('tails of the normal and the chi-square distribution', () => {
  const expected = [0.7518296340458492, 0.3032151849531741, 0.04999999999999989, 7.744216431044088e-6, 9.485737571073857e-15];
  [0.1, 1.06, 3.841458820694124, 20, 60].forEach((x, i) => expect(chiSquareTail(x) / expected[i]!).toBeCloseTo(1, 9));
  const tails = [0.8849303297782918, 0.3085375387259869, 0.0013498980316300933, 9.865876450376946e-10];
  [-1.2, 0.5, 3, 6].forEach((z, i) => expect(normalTail(z) / tails[i]!).toBeCloseTo(1, 9));
});

test('rank sum, with ties', () => {
  expect(rankSumLower([0.1, 0.2, 0.2, 0.05, 0.4], [0.3, 0.9, 1.2, 0.2, 0.8, 2, 0.7])).toBeCloseTo(0.011020451854921127, 10);
  expect(rankSumLower([], [1])).toBe(1);
});

test('many tests at once', () => {
  const p = [0.01, 0.04, 0.03, 0.005, 0.5];
  [0.04, 0.09, 0.09, 0.025, 0.5].forEach((q, i) => expect(holm(p)[i]).toBeCloseTo(q, 12));
  [0.025, 0.05, 0.05, 0.025, 0.5].forEach((q, i) => expect(benjaminiHochberg(p)[i]).toBeCloseTo(q, 12));
});

test('McNemar, exact', () => {
  expect([mcnemarExact(2, 8), mcnemarExact(0, 6), mcnemarExact(3, 3), mcnemarExact(0, 0)]).toEqual([0.109375, 0.03125, 1, 1]);
});

test('a median lies between two of the values, with six at least', () => {
  // Published ranks of the 95 % interval: 2 and 9 of 10, 6 and 15 of 20 (Conover, Practical Nonparametric Statistics, table A3).
  expect(medianInterval(Array.from({ length: 10 }, (_, i) => i + 1))).toEqual({ median: 5.5, low: 2, high: 9 });
  expect(medianInterval(Array.from({ length: 20 }, (_, i) => i + 1))).toEqual({ median: 10.5, low: 6, high: 15 });
  expect(medianInterval([1, 2, 3, 4, 5])).toBeUndefined();
  expect(medianInterval([6, 5, 4, 3, 2, 1])).toEqual({ median: 3.5, low: 1, high: 6 });
});

describe('sequential test', () => {
  const design = { low: 0.001, high: 0.02, error: 0.05 };

  test('accepts after 154 equal pairs and rejects at a divergence with two at most before it', () => {
    expect([sequentialTest(design, 0, 153), sequentialTest(design, 0, 154)]).toEqual([undefined, 'low']);
    expect([sequentialTest(design, 1, 3), sequentialTest(design, 1, 4)]).toEqual(['high', undefined]);
  });

  test('two divergences reject if fewer than 159 equal pairs were seen', () => {
    expect([sequentialTest(design, 2, 160), sequentialTest(design, 2, 161)]).toEqual(['high', undefined]);
    expect(sequentialTest({ low: 0.0005, high: 0.01, error: 0.05 }, 0, 309)).toBe('low');
  });
});
