import { int32Tensor, type Tensor } from '#wire/protocol/tensors.ts';

/**
 * Phrases as the raw model takes them: INT32 [1, 2, L]. Row 0 has the ids of all phrases, one after the other, padded
 * with 0; row 1 the end offset of each phrase, padded with -1; L = max(1, number of ids). Empty phrases are skipped;
 * with nothing left it is [[0], [-1]].
 *
 * Source: TensorRT-LLM triton_backend/all_models/inflight_batcher_llm/preprocessing/1/model.py (_to_word_list_format),
 * as observed (docs/observed.md#preprocessing).
 */
export function wordListTensor(name: string, phrases: readonly (readonly number[])[]): Tensor {
  const kept = phrases.filter((phrase) => phrase.length > 0);
  const ids = kept.flat();
  const width = Math.max(1, ids.length);
  const values = new Int32Array(2 * width).fill(0, 0, width).fill(-1, width);
  values.set(ids);
  let end = 0;
  for (const [i, phrase] of kept.entries()) values[width + i] = end += phrase.length;
  return int32Tensor(name, [1, 2, width], values);
}
