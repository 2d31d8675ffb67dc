import { chiSquareTail } from './chi-square.ts';

/** One sequence: until when it was watched, and whether it diverged there. */
export interface Watched {
  /** Tokens up to the first divergence, or all of them. */
  readonly time: number;
  readonly event: boolean;
  /** Of which of the two groups it is. */
  readonly treated: boolean;
}

export interface LogRank {
  /** First divergences in the treated group, and how many there would be if the groups were alike. */
  readonly observed: number;
  readonly expected: number;
  readonly variance: number;
  /** (observed − expected)² / variance; 0 where nothing can be told. */
  readonly chiSquare: number;
  /** Two-sided. */
  readonly p: number;
}

/**
 * Log-rank test of two groups, stratified: within a stratum (a prompt) the groups are compared, and strata are added up, so that
 * easy and hard prompts do not pass for a difference. Variance hypergeometric, ties as they are. Source: Mantel, Cancer
 * Chemotherapy Reports 1966; the numbers are those of R survival's `survdiff(… + strata(…))`.
 */
export function logRank(strata: Iterable<readonly Watched[]>): LogRank {
  let [observed, expected, variance] = [0, 0, 0];
  for (const stratum of strata) {
    for (const time of new Set(stratum.filter(({ event }) => event).map((one) => one.time))) {
      const atRisk = stratum.filter((one) => one.time >= time);
      const here = atRisk.filter((one) => one.time === time && one.event);
      const [n, treated, d] = [atRisk.length, atRisk.filter((one) => one.treated).length, here.length];
      observed += here.filter((one) => one.treated).length;
      expected += (d * treated) / n;
      if (n > 1) variance += (d * (treated / n) * (1 - treated / n) * (n - d)) / (n - 1);
    }
  }
  const chiSquare = variance > 0 ? (observed - expected) ** 2 / variance : 0;
  return { observed, expected, variance, chiSquare, p: chiSquareTail(chiSquare) };
}
