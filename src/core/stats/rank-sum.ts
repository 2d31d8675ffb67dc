/** Whether one sample tends to be larger than another. */
export interface RankSum {
  /** Mann-Whitney U of the first sample: pairs in which it is larger, ties counted half. */
  readonly u: number;
  /** Standardised U with tie and continuity correction. */
  readonly z: number;
  /** One-sided: the chance of a U this large when both come from one distribution (normal approximation, each n ≥ 8). */
  readonly pLarger: number;
}

/**
 * Wilcoxon rank-sum test (Mann and Whitney, Annals of Mathematical Statistics 1947). Used on margins: under the noise
 * hypothesis flips sit at *small* margins, so flips whose margins rank above matched random positions are a bug signal.
 */
export function rankSum(first: readonly number[], second: readonly number[]): RankSum {
  const all = [...first.map((value) => ({ value, mine: true })), ...second.map((value) => ({ value, mine: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankOfFirst = 0;
  let tieTerm = 0;
  for (let i = 0; i < all.length;) {
    let j = i;
    while (j < all.length && all[j]?.value === all[i]?.value) j++;
    const size = j - i;
    for (let k = i; k < j; k++) if (all[k]?.mine) rankOfFirst += (i + 1 + j) / 2;
    tieTerm += size ** 3 - size;
    i = j;
  }
  const n1 = first.length;
  const n2 = second.length;
  const n = n1 + n2;
  const u = rankOfFirst - (n1 * (n1 + 1)) / 2;
  const variance = n < 2 ? 0 : ((n1 * n2) / 12) * (n + 1 - tieTerm / (n * (n - 1)));
  const distance = u - (n1 * n2) / 2;
  const z = variance === 0 ? 0 : (distance - Math.sign(distance) * 0.5) / Math.sqrt(variance);
  return { u, z, pLarger: upperNormal(z) };
}

/** P(Z ≥ z): Abramowitz and Stegun 7.1.26, absolute error below 1e-7. */
function upperNormal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const half = 0.5 * poly * Math.exp(-x * x);
  return z >= 0 ? half : 1 - half;
}
