/** A sequential test, fixed before the first trial: whether a rate is `low` (acceptable) or `high` (not). */
export interface SequentialDesign {
  readonly low: number;
  readonly high: number;
  /** Chance to call a rate of `low` high, and the other way round. */
  readonly error: number;
}

/** Wald's sequential probability ratio test (Annals of Mathematical Statistics 1945): undefined while nothing is decided. */
export function sequentialTest(design: SequentialDesign, events: number, trials: number): 'low' | 'high' | undefined {
  const { low, high, error } = design;
  const ratio = events * Math.log(high / low) + (trials - events) * Math.log((1 - high) / (1 - low));
  const bound = Math.log((1 - error) / error);
  // A sum that lies on the bound but for the last bit is over it.
  if (ratio >= bound - 1e-9) return 'high';
  return ratio <= -bound + 1e-9 ? 'low' : undefined;
}
