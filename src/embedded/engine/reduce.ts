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
