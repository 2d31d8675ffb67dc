/**
 * P(X > x) of a chi-square distribution with one degree of freedom, which is erfc(√(x/2)): series DLMF 7.6.2 below 3, continued
 * fraction DLMF 7.9.1 above; relative error below 1e-10 where the result is above 1e-300.
 */
export function chiSquareTail(x: number): number {
  if (!(x > 0)) return 1;
  return erfc(Math.sqrt(x / 2));
}

/** P(Z > z) of the standard normal distribution. */
export function normalTail(z: number): number {
  const half = erfc(Math.abs(z) / Math.SQRT2) / 2;
  return z >= 0 ? half : 1 - half;
}

function erfc(x: number): number {
  if (x < 2) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 200 && Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let n = 120; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}
