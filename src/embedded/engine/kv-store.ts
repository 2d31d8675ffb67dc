import type { LlamaConfig } from './checkpoint.ts';
import { roundToBf16 } from './safetensors.ts';

/**
 * The numbers of the paged cache: keys (rotated) and values, [layer, block, token in block, kvHead × headDim],
 * row-major float64. Who owns which block is the business of KvCache.
 */
export interface KvStore {
  readonly keys: Float64Array;
  readonly values: Float64Array;
  readonly blocks: number;
  readonly tokensPerBlock: number;
  /** kvHeads × headDim */
  readonly width: number;
  readonly layers: number;
}

export function createKvStore(config: LlamaConfig, blocks: number, tokensPerBlock: number): KvStore {
  const width = config.kvHeads * config.headDim;
  const size = config.layers * blocks * tokensPerBlock * width;
  return { keys: new Float64Array(size), values: new Float64Array(size), blocks, tokensPerBlock, width, layers: config.layers };
}

/** Rounds all keys and values of one block to bfloat16, in place. */
export function roundBlock(store: KvStore, block: number): void {
  const length = store.tokensPerBlock * store.width;
  for (let layer = 0; layer < store.layers; layer++) {
    const start = (layer * store.blocks + block) * length;
    for (let i = start; i < start + length; i++) {
      store.keys[i] = roundToBf16(store.keys[i]!);
      store.values[i] = roundToBf16(store.values[i]!);
    }
  }
}

/** Copies keys and values of positions [from, to) of one block table to another, in all layers. */
export function copyPositions(store: KvStore, source: Int32Array, target: Int32Array, from: number, to: number): void {
  const { tokensPerBlock: size, width } = store;
  for (let layer = 0; layer < store.layers; layer++) {
    const cell = (table: Int32Array, position: number) =>
      ((layer * store.blocks + table[(position / size) | 0]!) * size + (position % size)) * width;
    for (let at = from, end = 0; at < to; at = end) {
      end = Math.min(to, (((at / size) | 0) + 1) * size);
      const read = cell(source, at);
      const length = (end - at) * width;
      store.keys.copyWithin(cell(target, at), read, read + length);
      store.values.copyWithin(cell(target, at), read, read + length);
    }
  }
}
