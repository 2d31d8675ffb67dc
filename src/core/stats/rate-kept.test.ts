import { expect, test } from 'vitest';
import { rateKept } from './rate-kept.ts';

// By hand: a hit adds ln 4 = 1.386, the bounds are ±ln 19 = ±2.944; at rate 0.5 a miss adds ln(0.5 / 0.875) = -0.560.
test('at rate 0.5 three hits in a row decide, and six misses in a row', () => {
  expect(rateKept(0.5, { n: 2, k: 2 })).toBe('open');
  expect(rateKept(0.5, { n: 3, k: 3 })).toBe('kept');
  expect(rateKept(0.5, { n: 5, k: 0 })).toBe('open');
  expect(rateKept(0.5, { n: 6, k: 0 })).toBe('lost');
});

test('three hits and two misses are 3.04, just enough; three and three are 2.48, which is not', () => {
  expect(rateKept(0.5, { n: 5, k: 3 })).toBe('kept');
  expect(rateKept(0.5, { n: 6, k: 3 })).toBe('open');
});

test('what always happened is decided by one try', () => {
  expect([rateKept(1, { n: 0, k: 0 }), rateKept(1, { n: 1, k: 1 }), rateKept(1, { n: 1, k: 0 })]).toEqual(['open', 'kept', 'lost']);
});
