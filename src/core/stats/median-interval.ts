/** A median with an interval that holds it. */
export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The median and the distribution-free interval between two order statistics that holds it with at least this confidence: how
 * many values lie below the median is binomial (David and Nagaraja, Order Statistics, 7.1). Undefined for fewer than six values, whose
 * whole range holds it with less than 95 %.
 */
export function medianInterval(values: readonly number[], confidence = 0.95): MedianInterval | undefined {
  const n = values.length;
  const sorted = values.toSorted((a, b) => a - b);
  let below = 0;
  let term = 0.5 ** n;
  let k = -1;
  // The largest k with P(X ≤ k) ≤ a/2.
  for (let i = 0; i < n; i++) {
    below += term;
    if (below > (1 - confidence) / 2) break;
    k = i;
    term *= (n - i) / (i + 1);
  }
  if (k < 0) return undefined;
  const middle = (n - 1) / 2;
  return { median: (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2, low: sorted[k]!, high: sorted[n - 1 - k]! };
}
