/**
 * Upper bound on the rate of an event that n independent trials never showed: 1 − a^(1/n), with a = 1 − confidence.
 *
 * Close to 3/n at 95 % (rule of three: Jovanovic and Levy, American Statistician 1997). With n = 0 nothing is known: 1.
 */
export function zeroDivergenceBound(n: number, confidence = 0.95): number {
  return n === 0 ? 1 : -Math.expm1(Math.log1p(-confidence) / n);
}
