/**
 * The chance that a fault of `rate` per trial passes a gate of `trials` equal trials that may be run `attempts` times
 * until green: 1 − (1 − (1 − rate)^trials)^attempts. It shows why attempts are pooled and never discarded here.
 */
export function chanceToPass(rate: number, trials: number, attempts: number): number {
  const once = (1 - rate) ** trials;
  return 1 - (1 - once) ** attempts;
}

/** All attempts at one claim, as one sample. */
export function pool(attempts: readonly { readonly n: number; readonly k: number }[]): { readonly n: number; readonly k: number } {
  let n = 0;
  let k = 0;
  for (const attempt of attempts) {
    n += attempt.n;
    k += attempt.k;
  }
  return { n, k };
}
