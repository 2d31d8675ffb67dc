/**
 * A bound on a rate as per cent with two significant digits, rounded up: a bound that is rounded down is a false claim.
 * From one in ten thousand downwards in powers of ten. `0.00301` → `0.31 %`, `0.00003` → `3.0e-5`.
 */
export function formatBound(bound: number): string {
  if (bound >= 1) return '100 %';
  if (bound <= 0) return '0 %';
  const up = roundUp(bound);
  if (up >= 1) return '100 %';
  if (up < 1e-4) return up.toExponential(1);
  const perCent = up * 100;
  const decimals = Math.max(0, 1 - Math.floor(Math.log10(perCent) + 1e-9));
  return `${perCent.toFixed(decimals)} %`;
}

/** The smallest number with two significant digits that is not below `value`. */
function roundUp(value: number): number {
  const [digits, power] = value.toExponential(1).split('e') as [string, string];
  const near = Number(`${digits}e${power}`);
  if (near >= value) return near;
  return Number(`${Math.round(Number(digits) * 10) + 1}e${Number(power) - 1}`);
}
