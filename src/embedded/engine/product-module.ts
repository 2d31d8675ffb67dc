/**
 * Matrix products in WebAssembly, two outputs in each 128-bit lane pair; the bytes are put together here, so that there
 * is nothing to build.
 *
 * `product(w, stride, inputs, x, xStride, out, rows)`, all i32, addresses and strides in bytes:
 * out[row, o] = Σ_i w[i, o] · x[row, i] in float64, with w transposed, [inputs, outputs], `outputs` a multiple of 16;
 * `stride` is that of a row of w and of out.
 * Every sum runs over i from 0 upwards in one double: f64x2 rounds each lane as JavaScript rounds a number, and nothing is
 * fused, so that the results are bitwise those of a plain loop.
 */

const I32 = 0x7f;
const V128 = 0x7b;
const VOID = 0x40;

const op = {
  block: 0x02,
  loop: 0x03,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  i32Const: 0x41,
  i32Eqz: 0x45,
  i32LtS: 0x48,
  i32Add: 0x6a,
  i32Sub: 0x6b,
} as const;

/** Unsigned LEB128. */
function u32(value: number): number[] {
  const low = value & 0x7f;
  return value < 0x80 ? [low] : [low | 0x80, ...u32(value >>> 7)];
}

/** Signed LEB128. */
function s32(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const done = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return done ? [low] : [low | 0x80, ...s32(rest)];
}

const get = (local: number) => [op.get, ...u32(local)];
const set = (local: number) => [op.set, ...u32(local)];
const constant = (value: number) => [op.i32Const, ...s32(value)];
const simd = (code: number) => [0xfd, ...u32(code)];
/** Alignment 2^3: doubles. */
const memory = (code: number, offset: number) => [...simd(code), 3, ...u32(offset)];
const load = (offset: number) => memory(0x00, offset);
const loadSplat = (offset: number) => memory(0x0a, offset);
const store = (offset: number) => memory(0x0b, offset);
const MULTIPLY = simd(0xf2);
const ADD = simd(0xf0);
const ZERO = [...simd(0x0c), ...Array.from({ length: 16 }, () => 0)];
const loop = (body: readonly number[]) => [op.loop, VOID, ...body, op.end];
const plus = (local: number, amount: readonly number[]) => [...get(local), ...amount, op.i32Add, ...set(local)];

const DOUBLE = 8;
const LANES = 16;

/** Locals of the function; parameters first. */
const P = { w: 0, stride: 1, inputs: 2, x: 3, xStride: 4, out: 5, rows: 6 } as const;
const L = { i: 7, column: 8, at: 9, from: 10, left: 11, to: 12 } as const;
const FIRST_VECTOR = 13;
const VECTORS = 10;

/**
 * One pass over the inputs for `rows` rows side by side and `pairs` lane pairs each: sums in `rows` × `pairs` locals, the
 * rows' inputs in the locals behind them.
 */
function tile(rows: number, pairs: number): number[] {
  const sum = (row: number, pair: number) => FIRST_VECTOR + row * pairs + pair;
  const input = (row: number) => FIRST_VECTOR + rows * pairs + row;
  const each = (make: (row: number, pair: number) => number[]) =>
    Array.from({ length: pairs }, (_, pair) => Array.from({ length: rows }, (_r, row) => make(row, pair))).flat(2);
  const rowAddress = (base: number, row: number) => [...get(base), ...(row === 0 ? [] : [...get(P.xStride), op.i32Add])];
  return [
    ...each((row, pair) => [...ZERO, ...set(sum(row, pair))]),
    ...[...get(P.w), ...get(L.column), op.i32Add, ...set(L.at)],
    ...[...get(P.x), ...set(L.from)],
    ...[...get(P.inputs), ...set(L.i)],
    ...loop([
      ...Array.from({ length: rows }, (_, row) => [...rowAddress(L.from, row), ...loadSplat(0), ...set(input(row))]).flat(),
      ...each((row, pair) => [
        ...get(sum(row, pair)),
        ...get(L.at),
        ...load(pair * 2 * DOUBLE),
        ...get(input(row)),
        ...MULTIPLY,
        ...ADD,
        ...set(sum(row, pair)),
      ]),
      ...plus(L.at, get(P.stride)),
      ...plus(L.from, constant(DOUBLE)),
      ...[...get(L.i), ...constant(1), op.i32Sub, op.tee, ...u32(L.i), op.brIf, 0],
    ]),
    ...[...get(P.out), ...get(L.column), op.i32Add, ...set(L.to)],
    ...each((row, pair) => [
      ...get(L.to),
      ...(row === 0 ? [] : [...get(P.stride), op.i32Add]),
      ...get(sum(row, pair)),
      ...store(pair * 2 * DOUBLE),
    ]),
  ];
}

/** All columns of a matrix for `rows` rows; then x and out stand behind them. */
function columns(rows: number, pairs: number): number[] {
  return [
    ...[...constant(0), ...set(L.column)],
    ...loop([
      ...tile(rows, pairs),
      ...plus(L.column, constant(pairs * 2 * DOUBLE)),
      ...[...get(L.column), ...get(P.stride), op.i32LtS, op.brIf, 0],
    ]),
    ...Array.from({ length: rows }, () => [...plus(P.x, get(P.xStride)), ...plus(P.out, get(P.stride))]).flat(),
    ...[...get(L.left), ...constant(rows), op.i32Sub, ...set(L.left)],
  ];
}

/** Two rows at a time share what is read of the matrix; the last of an odd number goes alone, over twice the columns. */
const BODY = [
  ...[...get(P.rows), ...set(L.left)],
  ...[op.block, VOID],
  ...loop([
    // Fewer than two are left: out of the block.
    ...[...get(L.left), ...constant(2), op.i32LtS, op.brIf, 1],
    ...columns(2, LANES / 4),
    ...[op.br, 0],
  ]),
  op.end,
  ...[op.block, VOID, ...get(L.left), op.i32Eqz, op.brIf, 0, ...columns(1, LANES / 2), op.end],
  op.end,
];

function section(id: number, content: readonly number[]): number[] {
  return [id, ...u32(content.length), ...content];
}

const name = (text: string) => [...u32(text.length), ...Buffer.from(text)];

/** Imports `env.memory`, exports `product`. */
export function productModule(): WebAssembly.Module {
  const parameters = Object.keys(P).length;
  const numbers = Object.keys(L).length;
  const locals = [2, ...u32(numbers), I32, ...u32(VECTORS), V128];
  const code = [...locals, ...BODY];
  return new WebAssembly.Module(
    Uint8Array.from([
      ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, [1, 0x60, parameters, ...Array.from({ length: parameters }, () => I32), 0]),
      ...section(2, [1, ...name('env'), ...name('memory'), 2, 0, 1]),
      ...section(3, [1, 0]),
      ...section(7, [1, ...name('product'), 0, 0]),
      ...section(10, [1, ...u32(code.length), ...code]),
    ]),
  );
}
