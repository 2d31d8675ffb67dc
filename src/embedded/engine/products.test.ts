import { expect, test } from 'vitest';
import { rngFrom } from '#core/seed/index.ts';
import { createProducts } from './products.ts';

/** One double per sum, over the inputs in their order. */
function plain(weights: Float64Array, outputs: number, inputs: number, x: Float64Array, rows: number): Float64Array {
  const out = new Float64Array(rows * outputs);
  for (let row = 0; row < rows; row++) {
    for (let o = 0; o < outputs; o++) {
      let sum = 0;
      for (let i = 0; i < inputs; i++) sum += (weights[o * inputs + i] as number) * (x[row * inputs + i] as number);
      out[row * outputs + o] = sum;
    }
  }
  return out;
}

const rng = rngFrom(3, 'products');
const random = (length: number) => Float64Array.from({ length }, () => (rng.int(-1e9, 1e9) / 1e9) * 2 ** rng.int(-30, 30));

test.each([
  [16, 1],
  [64, 64],
  [192, 64],
  [512, 64],
  [1, 3],
  [37, 19],
])('products of %i outputs and %i inputs are bitwise those of a plain loop, for any number of rows', (outputs, inputs) => {
  const [weights, other] = [random(outputs * inputs), random(outputs * inputs)];
  const products = createProducts(
    [weights, other].map((one) => ({ weights: one, outputs, inputs })),
    8,
  );
  for (let rows = 1; rows <= 8; rows++) {
    for (const one of [weights, other]) {
      const x = random(8 * inputs);
      const out = new Float64Array(8 * outputs).fill(7);
      products.multiply(out, one, x, rows);
      expect(new BigUint64Array(out.buffer, 0, rows * outputs)).toEqual(new BigUint64Array(plain(one, outputs, inputs, x, rows).buffer));
      expect(out.subarray(rows * outputs).every((value) => value === 7)).toBe(true);
    }
  }
});

test('equal rows of a matrix give equal results, and what is no number stays none', () => {
  const weights = new Float64Array([...random(5), Number.NaN, Number.POSITIVE_INFINITY, 0, -0, 1, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
  const products = createProducts([{ weights, outputs: 4, inputs: 5 }], 1);
  const out = new Float64Array(4);
  products.multiply(out, weights, random(5), 1);
  expect(out[1]).toBeNaN();
  expect(out[2]).toBe(out[3]);
});
