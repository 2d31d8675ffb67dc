import { type Rng, rngFrom, splitMix64 } from '#core/seed/index.ts';
import { argmax, createShaper, logSumExp } from './shaper.ts';
import type { EngineRequest, EngineSampling } from './types.ts';

/** Picks the ids of one request, one after another. */
export interface Sampler {
  /** The next id. `logits` [vocab] stays as it is; `tokens` is prompt and answer, `length` of them. */
  next(logits: Float64Array, tokens: Int32Array, length: number): number;
  /** Natural logarithm of the probability that `next` gave to `id` in its last call. */
  logProbability(id: number): number;
}

/**
 * Seeds for requests that bring none: a process-wide sequence that starts from 0, so that an unseeded answer depends
 * on how many unseeded requests came before (TensorRT-LLM, newer sources: an mt19937_64 seeded with 0).
 */
export function unseededSeeds(): () => bigint {
  const random = splitMix64(0n);
  return () => random.next();
}

/**
 * TensorRT-LLM's sampling for beam width 1 (cpp/tensorrt_llm/kernels/samplingTopKKernels.cu, samplingTopPKernels.cu,
 * runtime/samplingConfig.h), on logits that a Shaper has changed.
 *
 * Greedy: neither top_k nor top_p, or top_k 1, or temperature 0 with any top_k. Temperature 0 with top_p alone is not
 * greedy: temperature and top_p become 1. Greedy ties go to the lowest id.
 *
 * Randomness: splitmix64 from the request's seed alone, one number per sampled id, as in the Python twin of this engine.
 */
export function createSampler(request: EngineRequest, seed: bigint, vocab: number, faults: ReadonlySet<string>): Sampler {
  const { sampling } = request;
  const topK = sampling.topK !== undefined && sampling.topK > 0 ? sampling.topK : 0;
  const topP = sampling.topP !== undefined && sampling.topP > 0 ? sampling.topP : 0;
  const frozen = sampling.temperature === 0;
  // Fault: 0 counts as not set, so that a request without top_k and top_p is sampled from the whole vocabulary.
  const unset = topK === 0 && topP === 0 && !faults.has('greedy-varies-with-topk0-topp0');
  // A top_k that was given counts, 0 too: temperature 0 makes it 1 (runtime/samplingConfig.h, validate).
  // Fault: the sampler takes the largest logit whatever it is asked.
  const greedy = unset || topK === 1 || (frozen && sampling.topK !== undefined) || faults.has('torch-sampler-always-greedy');
  const choose = greedy
    ? faults.has('top-k-1-not-argmax-on-ties')
      ? drawAmongTies(rngFrom(0, String(seed)))
      : argmax
    : nucleus(sampling, frozen ? 1 : topP || 1, drawFromTop(vocab, topK || vocab, splitMix64(seed)));
  const shaper = createShaper(request, vocab, faults);
  let shaped: Float64Array = new Float64Array(0);
  return {
    next(logits, tokens, length) {
      shaped = shaper.shape(logits, tokens, length);
      return shaper.heldBackBest ? vocab : choose(shaped);
    },
    logProbability: (id) => shaped[id]! - logSumExp(shaped),
  };
}

/**
 * Draws with the top p of the factual-nucleus decay: after each id it is multiplied by the decay, not below the minimum,
 * and set back by the reset id (samplingTopPKernels.cu, computeToppDecay; defaults of layers/defaultDecodingParams.h).
 * The top-k kernel, which also serves requests with both, knows no decay.
 */
function nucleus(
  { topK = 0, topPDecay = 1, topPMin = 1e-6, topPResetId = -1 }: EngineSampling,
  initial: number,
  draw: (logits: Float64Array, p: number) => number,
): (logits: Float64Array) => number {
  let p = initial;
  return (logits) => {
    const id = draw(logits, p);
    if (topK <= 0) p = id === topPResetId ? initial : Math.max(p * topPDecay, topPMin);
    return id;
  };
}

/** Fault: one of the exactly equal maxima, drawn. */
function drawAmongTies(rng: Rng): (logits: Float64Array) => number {
  return (logits) => {
    const top = logits[argmax(logits)];
    const tied = Array.from(logits.keys()).filter((id) => logits[id] === top);
    return tied.length > 1 ? rng.pick(tied) : tied[0]!;
  };
}

/** Draws among the `k` largest (ties by lowest id), from the smallest head of them that holds `p` of their weight. */
function drawFromTop(vocab: number, k: number, random: { float(): number }): (logits: Float64Array, p: number) => number {
  const order = Array.from({ length: vocab }, (_, id) => id);
  return (logits, p) => {
    order.sort((a, b) => logits[b]! - logits[a]! || a - b);
    const top = logits[order[0]!]!;
    let sum = 0;
    for (let i = 0; i < k && i < vocab; i++) sum += Math.exp(logits[order[i]!]! - top);
    let rest = random.float() * p * sum;
    for (let i = 0; i < k && i < vocab; i++) {
      rest -= Math.exp(logits[order[i]!]! - top);
      if (rest < 0) return order[i]!;
    }
    return order[0]!;
  };
}
