/** P-values after Holm (Scandinavian Journal of Statistics 1979), in the order given: below a, the chance of any false alarm is below a. */
export function holm(pValues: readonly number[]): readonly number[] {
  let highest = 0;
  return adjusted(pValues, ascending(pValues), (p, rank) => (highest = Math.max(highest, Math.min(1, (pValues.length - rank) * p))));
}

/** P-values after Benjamini and Hochberg (Journal of the Royal Statistical Society B 1995), in the order given: the share of false ones among those below a is below a. */
export function benjaminiHochberg(pValues: readonly number[]): readonly number[] {
  let lowest = 1;
  return adjusted(
    pValues,
    ascending(pValues).toReversed(),
    (p, step) => (lowest = Math.min(lowest, (p * pValues.length) / (pValues.length - step))),
  );
}

const ascending = (values: readonly number[]): number[] => values.map((_, i) => i).toSorted((a, b) => values[a]! - values[b]!);

function adjusted(pValues: readonly number[], order: readonly number[], step: (p: number, rank: number) => number): readonly number[] {
  const out: number[] = Array.from({ length: pValues.length });
  order.forEach((index, rank) => (out[index] = step(pValues[index]!, rank)));
  return out;
}
