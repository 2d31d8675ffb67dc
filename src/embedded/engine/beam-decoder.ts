import { BeamSearch } from './beam-search.ts';
import type { Decoder } from './decoder.ts';
import { endsWithAny } from './endings.ts';
import type { KvCache } from './kv-cache.ts';
import type { KvStore } from './kv-store.ts';
import { followBeams, type Line } from './line.ts';
import { createShaper } from './shaper.ts';
import { NO_NEWS } from './tell.ts';
import type { EngineBeams, EngineRequest } from './types.ts';

export interface BeamPlaces {
  /** As many lines as beams; the first one computes the prompt. */
  readonly lines: readonly Line[];
  readonly cache: KvCache;
  readonly store: KvStore;
  /** Requests in the step, this one included. */
  readonly crowd: () => number;
}

/** All beams of one request: every step tells all of them as they rank now, whole answers. */
export function createBeamDecoder(
  request: EngineRequest,
  beams: EngineBeams,
  { lines: held, cache, store, crowd }: BeamPlaces,
  faults: ReadonlySet<string>,
): Decoder {
  const { promptIds, stopWords, wantLogits } = request;
  const [first, ...others] = held;
  const shaper = createShaper(request, first!.logits.length, faults);
  const search = new BeamSearch({
    ...beams,
    endId: faults.has('never-stops-at-eos') ? -1 : request.endId,
    maxTokens: first!.tokens.length - promptIds.length,
    leavesLogProbs: faults.has('pytorch-logprobs-wrong'),
    collapses: () => faults.has('beam-diversity-lost-inflight') && crowd() > 1,
    stops: (ids) => stopWords.length > 0 && !faults.has('stop-words-ignored') && endsBehind(promptIds, stopWords, ids),
  });
  let lines = [first!];
  let spare = others;

  return {
    get lines() {
      return lines;
    },
    held,
    get beams() {
      return search.ranked();
    },
    get cumLogProb() {
      return search.ranked()[0]?.cumLogProb ?? 0;
    },
    advance() {
      search.step(
        (beam) => shaper.shape(lines[beam]!.logits, lines[beam]!.tokens, lines[beam]!.length),
        (beam) => (wantLogits ? new Float32Array(lines[beam]!.logits) : undefined),
      );
      const { finish } = search;
      if (finish === undefined)
        ({ lines, spare } = followBeams(search.live, lines, spare, { cache, store, promptLength: promptIds.length }));
      const ranked = search.ranked();
      return [{ ...NO_NEWS, beams: ranked, cumLogProb: ranked[0]?.cumLogProb ?? 0, finish }];
    },
  };
}

/** A stop word may begin inside the prompt (kernels/stopCriteriaKernels.cu). */
function endsBehind(prompt: Int32Array, words: readonly (readonly number[])[], ids: readonly number[]): boolean {
  const longest = Math.max(...words.map((word) => word.length));
  const tail = Int32Array.from([...prompt.subarray(Math.max(0, prompt.length - longest)), ...ids]);
  return endsWithAny(words, tail, tail.length);
}
