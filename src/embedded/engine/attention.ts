import type { KvStore } from './kv-store.ts';

/** One query row and where its keys and values lie. */
export interface AttentionPlace {
  readonly layer: number;
  /** The row sees positions 0..position. */
  readonly position: number;
  /** Block number per 16 (tokensPerBlock) positions. */
  readonly table: Int32Array;
  /** Positions by which the value rows are misread; 0 but for a fault. */
  readonly valueShift: number;
}

/**
 * Attention of one query head group over the paged cache: softmax(q·k / √headDim)·v, queries at `q[q0…]`, result at
 * `out[q0…]`, heads × headDim each.
 *
 * Sums run over positions 0, 1, 2, … in one double, four positions or four channels side by side, so that the result
 * does not depend on where blocks lie, nor on which call wrote them. `scores` holds at least position + 1 numbers.
 */
export function attend(
  out: Float64Array,
  q: Float64Array,
  q0: number,
  out0: number,
  heads: number,
  headDim: number,
  store: KvStore,
  place: AttentionPlace,
  rowOffsets: Int32Array,
  scores: Float64Array,
): void {
  const { keys, values, width, tokensPerBlock } = store;
  const length = place.position + 1;
  const group = heads / (width / headDim);
  const scale = 1 / Math.sqrt(headDim);
  const layerBlock = place.layer * store.blocks;
  for (let p = 0; p < length; p++) {
    const block = place.table[(p / tokensPerBlock) | 0]!;
    rowOffsets[p] = ((layerBlock + block) * tokensPerBlock + (p % tokensPerBlock)) * width;
  }
  for (let head = 0; head < heads; head++) {
    const qh = q0 + head * headDim;
    const kvOffset = ((head / group) | 0) * headDim;
    let top = -Infinity;
    let p = 0;
    for (; p + 4 <= length; p += 4) {
      const k0 = rowOffsets[p]! + kvOffset;
      const k1 = rowOffsets[p + 1]! + kvOffset;
      const k2 = rowOffsets[p + 2]! + kvOffset;
      const k3 = rowOffsets[p + 3]! + kvOffset;
      let a0 = 0,
        a1 = 0,
        a2 = 0,
        a3 = 0;
      for (let d = 0; d < headDim; d++) {
        const v = q[qh + d]!;
        a0 += v * keys[k0 + d]!;
        a1 += v * keys[k1 + d]!;
        a2 += v * keys[k2 + d]!;
        a3 += v * keys[k3 + d]!;
      }
      scores[p] = a0 *= scale;
      scores[p + 1] = a1 *= scale;
      scores[p + 2] = a2 *= scale;
      scores[p + 3] = a3 *= scale;
      if (a0 > top) top = a0;
      if (a1 > top) top = a1;
      if (a2 > top) top = a2;
      if (a3 > top) top = a3;
    }
    for (; p < length; p++) {
      const k0 = rowOffsets[p]! + kvOffset;
      let a0 = 0;
      for (let d = 0; d < headDim; d++) a0 += q[qh + d]! * keys[k0 + d]!;
      scores[p] = a0 *= scale;
      if (a0 > top) top = a0;
    }
    let sum = 0;
    for (p = 0; p < length; p++) {
      const e = Math.exp(scores[p]! - top);
      scores[p] = e;
      sum += e;
    }
    for (let d = 0; d < headDim; d += 4) {
      let a0 = 0,
        a1 = 0,
        a2 = 0,
        a3 = 0;
      for (p = 0; p < length; p++) {
        const weight = scores[p]!;
        const v0 = rowOffsets[p < place.valueShift ? p : p - place.valueShift]! + kvOffset + d;
        a0 += weight * values[v0]!;
        a1 += weight * values[v0 + 1]!;
        a2 += weight * values[v0 + 2]!;
        a3 += weight * values[v0 + 3]!;
      }
      const o = out0 + head * headDim + d;
      out[o] = a0 / sum;
      out[o + 1] = a1 / sum;
      out[o + 2] = a2 / sum;
      out[o + 3] = a3 / sum;
    }
  }
}
