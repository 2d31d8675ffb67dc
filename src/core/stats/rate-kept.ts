import { sequentialTest } from './sequential.ts';

/** Of a sequential test: decided either way, or not yet. */
export type RateDecision = 'kept' | 'lost' | 'open';

/** Both errors of the test: to take a lost rate for kept, and a kept one for lost. */
const ERROR = 0.05;
/** A rate that fell to a quarter is lost: whoever repeats the case would have to try four times as often. */
const LOST = 1 / 4;

/**
 * Wald's sequential probability ratio test of whether something still happens at `rate` (`kept`) or at a quarter of it
 * (`lost`), after it happened `k` times in `n` tries. What happened every time so far is decided by one try: a law that is
 * broken by one counter-example needs no statistics.
 *
 * Source: Wald, Annals of Mathematical Statistics 1945; docs/statistics.md#does-a-smaller-case-still-fail.
 */
export function rateKept(rate: number, { n, k }: { readonly n: number; readonly k: number }): RateDecision {
  if (rate >= 1) return n === 0 ? 'open' : k === n ? 'kept' : 'lost';
  const told = sequentialTest({ low: rate * LOST, high: rate, error: ERROR }, k, n);
  return told === 'high' ? 'kept' : told === 'low' ? 'lost' : 'open';
}
