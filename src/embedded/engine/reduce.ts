/**
 * Matrix products: out[row, o] = Σ_i weights[o, i] · x[row, i], row-major, `rows` rows of x.
 *
 * Every sum runs over i from 0 upwards in one double, whichever blocking computes it, so that a row's numbers do not
 * depend on how many rows are computed with it, and two equal rows of `weights` give bitwise equal results. The
 * blocks (eight outputs for one row; two outputs for four rows) only keep independent additions in flight.
 */
export function project(out: Float64Array, outputs: number, weights: Float64Array, inputs: number, x: Float64Array, rows: number): void {
  let row = 0;
  for (; row + 4 <= rows; row += 4) fourRows(out, outputs, weights, inputs, x, row);
  for (; row < rows; row++) oneRow(out, outputs, weights, inputs, x, row);
}

function fourRows(out: Float64Array, outputs: number, w: Float64Array, inputs: number, x: Float64Array, row: number): void {
  const x0 = row * inputs;
  const x1 = x0 + inputs;
  const x2 = x1 + inputs;
  const x3 = x2 + inputs;
  const y0 = row * outputs;
  const y1 = y0 + outputs;
  const y2 = y1 + outputs;
  const y3 = y2 + outputs;
  let o = 0;
  for (; o + 2 <= outputs; o += 2) {
    const w0 = o * inputs;
    const w1 = w0 + inputs;
    let a0 = 0,
      a1 = 0,
      a2 = 0,
      a3 = 0,
      b0 = 0,
      b1 = 0,
      b2 = 0,
      b3 = 0;
    for (let i = 0; i < inputs; i++) {
      const a = w[w0 + i]!,
        b = w[w1 + i]!;
      const v0 = x[x0 + i]!,
        v1 = x[x1 + i]!,
        v2 = x[x2 + i]!,
        v3 = x[x3 + i]!;
      a0 += a * v0;
      a1 += a * v1;
      a2 += a * v2;
      a3 += a * v3;
      b0 += b * v0;
      b1 += b * v1;
      b2 += b * v2;
      b3 += b * v3;
    }
    out[y0 + o] = a0;
    out[y1 + o] = a1;
    out[y2 + o] = a2;
    out[y3 + o] = a3;
    out[y0 + o + 1] = b0;
    out[y1 + o + 1] = b1;
    out[y2 + o + 1] = b2;
    out[y3 + o + 1] = b3;
  }
  for (; o < outputs; o++) for (let r = row; r < row + 4; r++) out[r * outputs + o] = dot(w, o * inputs, x, r * inputs, inputs);
}

function oneRow(out: Float64Array, outputs: number, w: Float64Array, inputs: number, x: Float64Array, row: number): void {
  const x0 = row * inputs;
  const y = row * outputs;
  let o = 0;
  for (; o + 8 <= outputs; o += 8) {
    const w0 = o * inputs;
    const w1 = w0 + inputs;
    const w2 = w1 + inputs;
    const w3 = w2 + inputs;
    const w4 = w3 + inputs;
    const w5 = w4 + inputs;
    const w6 = w5 + inputs;
    const w7 = w6 + inputs;
    let a0 = 0,
      a1 = 0,
      a2 = 0,
      a3 = 0,
      a4 = 0,
      a5 = 0,
      a6 = 0,
      a7 = 0;
    for (let i = 0; i < inputs; i++) {
      const v = x[x0 + i]!;
      a0 += w[w0 + i]! * v;
      a1 += w[w1 + i]! * v;
      a2 += w[w2 + i]! * v;
      a3 += w[w3 + i]! * v;
      a4 += w[w4 + i]! * v;
      a5 += w[w5 + i]! * v;
      a6 += w[w6 + i]! * v;
      a7 += w[w7 + i]! * v;
    }
    out[y + o] = a0;
    out[y + o + 1] = a1;
    out[y + o + 2] = a2;
    out[y + o + 3] = a3;
    out[y + o + 4] = a4;
    out[y + o + 5] = a5;
    out[y + o + 6] = a6;
    out[y + o + 7] = a7;
  }
  for (; o < outputs; o++) out[y + o] = dot(w, o * inputs, x, x0, inputs);
}

function dot(w: Float64Array, w0: number, x: Float64Array, x0: number, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += w[w0 + i]! * x[x0 + i]!;
  return sum;
}

/** Where a row stands in its step: all that the order of its rounded sums depends on. */
export interface BatchPlace {
  /** Sequences in the step. */
  readonly batch: number;
  /** Place of the row's sequence among them, from 0. */
  readonly index: number;
}

/**
 * The same product as a GPU does it: float32 sums whose order follows the shape of the batch.
 *
 * A kernel is picked by batch size and splits the inner dimension (split-K) into `batch` parts; the parts start
 * where the sequence's place and the output's tile say. Alone (batch 1) there is one part that starts at 0, for every
 * output, so that a lone request repeats exactly and ties stay ties. This is the mechanism of
 * NVIDIA/TensorRT-LLM#1336.
 */
export function projectRounded(
  out: Float64Array,
  outputs: number,
  weights: Float64Array,
  inputs: number,
  x: Float64Array,
  row: number,
  place: BatchPlace,
): void {
  const parts = Math.min(place.batch, 8);
  const partLength = Math.ceil(inputs / parts);
  const x0 = row * inputs;
  const y = row * outputs;
  let o = 0;
  // Two pairs at a time: four sums that wait for each other's roundings no more.
  for (; o + 4 <= outputs; o += 4) {
    const w0 = o * inputs;
    const w1 = w0 + inputs;
    const w2 = w1 + inputs;
    const w3 = w2 + inputs;
    const first = place.batch === 1 ? 0 : (place.index * 7 + (o >> 1) * 5) % inputs;
    const second = place.batch === 1 ? 0 : (place.index * 7 + ((o >> 1) + 1) * 5) % inputs;
    let s0 = 0,
      s1 = 0,
      s2 = 0,
      s3 = 0;
    for (let begin = 0; begin < inputs; begin += partLength) {
      const end = Math.min(begin + partLength, inputs);
      let p0 = 0,
        p1 = 0,
        p2 = 0,
        p3 = 0;
      let a = (first + begin) % inputs;
      let b = (second + begin) % inputs;
      for (let i = begin; i < end; i++) {
        const va = x[x0 + a]!;
        const vb = x[x0 + b]!;
        p0 = Math.fround(p0 + Math.fround(weights[w0 + a]! * va));
        p1 = Math.fround(p1 + Math.fround(weights[w1 + a]! * va));
        p2 = Math.fround(p2 + Math.fround(weights[w2 + b]! * vb));
        p3 = Math.fround(p3 + Math.fround(weights[w3 + b]! * vb));
        a = a + 1 === inputs ? 0 : a + 1;
        b = b + 1 === inputs ? 0 : b + 1;
      }
      s0 = Math.fround(s0 + p0);
      s1 = Math.fround(s1 + p1);
      s2 = Math.fround(s2 + p2);
      s3 = Math.fround(s3 + p3);
    }
    out[y + o] = s0;
    out[y + o + 1] = s1;
    out[y + o + 2] = s2;
    out[y + o + 3] = s3;
  }
  for (; o < outputs; o++)
    out[y + o] = roundedDot(
      weights,
      o * inputs,
      x,
      x0,
      inputs,
      place.batch === 1 ? 0 : (place.index * 7 + (o >> 1) * 5) % inputs,
      partLength,
    );
}

function roundedDot(w: Float64Array, w0: number, x: Float64Array, x0: number, length: number, start: number, partLength: number): number {
  let sum = 0;
  for (let begin = 0; begin < length; begin += partLength) {
    const end = Math.min(begin + partLength, length);
    let part = 0;
    for (let i = begin; i < end; i++) {
      const at = (start + i) % length;
      part = Math.fround(part + Math.fround(w[w0 + at]! * x[x0 + at]!));
    }
    sum = Math.fround(sum + part);
  }
  return sum;
}
