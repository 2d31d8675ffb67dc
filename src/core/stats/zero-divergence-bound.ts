/**
 * Upper bound on the rate of an event that n independent trials never showed: 1 − a^(1/n), with a = 1 − confidence.
 *
 * Close to 3/n at 95 % (rule of three: Jovanovic and Levy, American Statistician 1997). With n = 0 nothing is known: 1.
 */
export function zeroDivergenceBound(n: number, confidence = 0.95): number {
  return n === 0 ? 1 : -Math.expm1(Math.log1p(-confidence) / n);
}

/** The smallest n for which n trials without the event prove a rate below `rate`: ⌈ln a / ln(1 − rate)⌉. */
export function trialsToProve(rate: number, confidence = 0.95): number {
  return Math.ceil(Math.log1p(-confidence) / Math.log1p(-rate));
}

/** The chance that n trials show an event of this rate at least once: 1 − (1 − rate)^n. */
export function chanceToSee(rate: number, n: number): number {
  return -Math.expm1(n * Math.log1p(-rate));
}
