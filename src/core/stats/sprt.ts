/** A sequential test of a divergence rate, fixed before the run and quoted in the report. Wald 1945. */
export interface SprtDesign {
  /** The rate that is acceptable. */
  readonly p0: number;
  /** The rate that is not. */
  readonly p1: number;
  /** Chance to reject at p0. */
  readonly alpha: number;
  /** Chance to accept at p1. */
  readonly beta: number;
}

export interface Sprt {
  /** Log-likelihood ratio added by an equal pair: ln((1 − p1) / (1 − p0)), negative. */
  readonly perEqual: number;
  /** Added by a divergence: ln(p1 / p0), positive. */
  readonly perDivergence: number;
  /** At or below it the test accepts: ln(β / (1 − α)). */
  readonly acceptAt: number;
  /** At or above it the test rejects: ln((1 − β) / α). */
  readonly rejectAt: number;
  decide(equal: number, divergences: number): 'accept' | 'reject' | 'go-on';
}

export const DEFAULT_SPRT: SprtDesign = { p0: 0.001, p1: 0.02, alpha: 0.05, beta: 0.05 };

export function sprt(design: SprtDesign = DEFAULT_SPRT): Sprt {
  const { p0, p1, alpha, beta } = design;
  const perEqual = Math.log1p(-p1) - Math.log1p(-p0);
  const perDivergence = Math.log(p1 / p0);
  const acceptAt = Math.log(beta / (1 - alpha));
  const rejectAt = Math.log((1 - beta) / alpha);
  const decide = (equal: number, divergences: number) => {
    const ratio = equal * perEqual + divergences * perDivergence;
    return ratio <= acceptAt ? 'accept' : ratio >= rejectAt ? 'reject' : 'go-on';
  };
  return { perEqual, perDivergence, acceptAt, rejectAt, decide };
}
