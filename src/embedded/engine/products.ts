import { productModule } from './product-module.ts';

/** Columns that the module computes at once; narrower matrices are filled up with zeros. */
const COLUMNS = 16;
const DOUBLE = 8;
const PAGE = 65_536;

/** Matrices that lie where they are multiplied. */
export interface Products {
  /** out[row, o] = Σ_i weights[o, i] · x[row, i], row-major, each sum in one double from i = 0 upwards, so that a
   * row's numbers do not depend on how many rows are computed with it. `weights` is one of those given. */
  multiply(out: Float64Array, weights: Float64Array, x: Float64Array, rows: number): void;
}

interface Matrix {
  readonly address: number;
  readonly outputs: number;
  readonly inputs: number;
  /** Outputs with those that fill up. */
  readonly columns: number;
}

type Product = (w: number, stride: number, inputs: number, x: number, xStride: number, out: number, rows: number) => void;

let module: WebAssembly.Module | undefined;

/**
 * Copies matrices, [outputs, inputs] row-major, into a memory of their own, transposed.
 *
 * `maxRows`: rows of one product at most.
 */
export function createProducts(
  matrices: readonly { readonly weights: Float64Array; readonly outputs: number; readonly inputs: number }[],
  maxRows: number,
): Products {
  const places = new Map<Float64Array, Matrix>();
  let end = 0;
  for (const { weights, outputs, inputs } of matrices) {
    if (places.has(weights)) continue;
    const columns = Math.ceil(outputs / COLUMNS) * COLUMNS;
    places.set(weights, { address: end, outputs, inputs, columns });
    end += columns * inputs * DOUBLE;
  }
  const widest = (of: (matrix: Matrix) => number) => Math.max(0, ...[...places.values()].map(of)) * maxRows * DOUBLE;
  const xAddress = end;
  const outAddress = xAddress + widest(({ inputs }) => inputs);
  const memory = new WebAssembly.Memory({ initial: Math.max(1, Math.ceil((outAddress + widest(({ columns }) => columns)) / PAGE)) });
  const numbers = new Float64Array(memory.buffer);
  for (const [weights, { address, outputs, inputs, columns }] of places) {
    const at = address / DOUBLE;
    for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++) numbers[at + i * columns + o] = weights[o * inputs + i] as number;
  }
  module ??= productModule();
  const product = new WebAssembly.Instance(module, { env: { memory } }).exports['product'] as Product;
  const [xAt, outAt] = [xAddress / DOUBLE, outAddress / DOUBLE];
  return {
    multiply(out, weights, x, rows) {
      const { address, outputs, inputs, columns } = places.get(weights) as Matrix;
      numbers.set(rows * inputs === x.length ? x : x.subarray(0, rows * inputs), xAt);
      product(address, columns * DOUBLE, inputs, xAddress, inputs * DOUBLE, outAddress, rows);
      if (columns === outputs) out.set(numbers.subarray(outAt, outAt + rows * columns));
      else for (let r = 0; r < rows; r++) out.set(numbers.subarray(outAt + r * columns, outAt + r * columns + outputs), r * outputs);
    },
  };
}
