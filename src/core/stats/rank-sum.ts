import { normalTail } from './chi-square.ts';

/**
 * P-value that `lower` lies as low as it does beside `other` if both came from one distribution: Wilcoxon's rank sum, one-sided,
 * normal approximation with the correction for ties and for continuity (Mann and Whitney, Annals of Mathematical Statistics
 * 1947; `scipy.stats.mannwhitneyu(lower, other, alternative='less', method='asymptotic')`). 1 where a side is empty.
 */
export function rankSumLower(lower: readonly number[], other: readonly number[]): number {
  const [n, m] = [lower.length, other.length];
  if (n === 0 || m === 0) return 1;
  const all = [...lower.map((value) => ({ value, own: true })), ...other.map((value) => ({ value, own: false }))].toSorted(
    (a, b) => a.value - b.value,
  );
  let rankSum = 0;
  let ties = 0;
  for (let i = 0; i < all.length;) {
    let j = i;
    while (j < all.length && all[j]!.value === all[i]!.value) j++;
    const rank = (i + j + 1) / 2;
    for (let k = i; k < j; k++) if (all[k]!.own) rankSum += rank;
    ties += (j - i) ** 3 - (j - i);
    i = j;
  }
  const u = rankSum - (n * (n + 1)) / 2;
  const N = n + m;
  const sigma = Math.sqrt(((n * m) / 12) * (N + 1 - ties / (N * (N - 1))));
  return sigma === 0 ? 1 : 1 - normalTail((u - (n * m) / 2 + 0.5) / sigma);
}
