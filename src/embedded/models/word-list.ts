import { type CoreTensor } from '../core/index.ts';
import { int32Tensor } from './values.ts';

/**
 * The word-list tensor INT32 [batch, 2, L]: row 0 the ids of all phrases in a line, padded with 0; row 1 the end
 * offset of each phrase, padded with -1. L is the longest line, at least 1, so a list of empty strings is
 * [[0], [-1]], while an absent list is [batch, 2, 0] (docs/observed.md#model-repository-1-x).
 *
 * `rows` holds the ids of each phrase per batch row; empty phrases are skipped.
 */
export function wordListTensor(name: string, batchSize: number, rows: readonly (readonly (readonly number[])[])[] | undefined): CoreTensor {
  if (rows === undefined) return int32Tensor(name, [batchSize, 2, 0], []);
  const lines = rows.map((phrases) => {
    const ids: number[] = [];
    const ends: number[] = [];
    for (const phrase of phrases) {
      if (phrase.length === 0) continue;
      ids.push(...phrase);
      ends.push(ids.length);
    }
    return { ids, ends };
  });
  const length = Math.max(1, ...lines.map((line) => line.ids.length));
  const values = new Int32Array(batchSize * 2 * length);
  lines.forEach(({ ids, ends }, row) => {
    const at = row * 2 * length;
    values.set(ids, at);
    values.fill(-1, at + length, at + 2 * length);
    values.set(ends, at + length);
  });
  return int32Tensor(name, [batchSize, 2, length], values);
}

/** The phrases of one batch row of a word-list tensor. Offsets that do not ascend end the list. */
export function phrasesOf(values: Int32Array, length: number, row: number): number[][] {
  const at = row * 2 * length;
  const out: number[][] = [];
  let start = 0;
  for (let i = 0; i < length; i++) {
    const end = values[at + length + i] as number;
    if (end <= start) break;
    out.push(Array.from(values.subarray(at + start, at + end)));
    start = end;
  }
  return out;
}
