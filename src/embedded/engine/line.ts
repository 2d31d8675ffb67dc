import type { LiveBeam } from './beam-search.ts';
import type { KvCache, KvSequence } from './kv-cache.ts';
import { copyPositions, type KvStore } from './kv-store.ts';

/** One sequence that is computed: the only one of a sampled request, or the place of one beam. */
export interface Line {
  readonly kv: KvSequence;
  /** Prompt and answer; `length` of them are there. */
  readonly tokens: Int32Array;
  length: number;
  /** Positions whose keys and values are in the cache. */
  computed: number;
  /** After the last token. */
  readonly logits: Float64Array;
}

export function createLine(kv: KvSequence, prompt: Int32Array, maxTokens: number, computed: number, vocab: number): Line {
  const tokens = new Int32Array(prompt.length + maxTokens);
  tokens.set(prompt);
  return { kv, tokens, length: prompt.length, computed, logits: new Float64Array(vocab) };
}

/**
 * Lines for the beams of the next step, in their order, each with its last id; then the lines that nobody needs. A beam
 * goes on in the line of the one it grew from; a second one gets a copy in a line whose beam has no successor.
 *
 * `lines` are those of the beams of the step before. Only positions from `promptEnd` on differ between lines, counted in
 * whole blocks: what the prompt fills is common to all.
 */
export function followBeams(
  live: readonly LiveBeam[],
  lines: readonly Line[],
  spare: readonly Line[],
  { cache, store, promptLength }: { readonly cache: KvCache; readonly store: KvStore; readonly promptLength: number },
): { readonly lines: Line[]; readonly spare: Line[] } {
  const heirs = new Map<Line, number>();
  for (const [i, beam] of live.entries()) {
    const line = lines[beam.parent]!;
    if (!heirs.has(line)) heirs.set(line, i);
  }
  const free = [...spare, ...lines.filter((line) => !heirs.has(line))];
  const common = promptLength - (promptLength % cache.tokensPerBlock);
  const next = live.map((beam, i) => {
    const from = lines[beam.parent]!;
    if (heirs.get(from) === i) return from;
    const to = free.pop();
    if (to === undefined) throw new Error('a search keeps more beams than it has lines');
    cache.grow(to.kv, from.computed);
    copyPositions(store, from.kv.table, to.kv.table, common, from.computed);
    to.tokens.set(from.tokens.subarray(promptLength, from.length), promptLength);
    to.length = from.length;
    to.computed = from.computed;
    return to;
  });
  next.forEach((line, i) => (line.tokens[line.length++] = live[i]!.ids.at(-1)!));
  return { lines: next, spare: free };
}
