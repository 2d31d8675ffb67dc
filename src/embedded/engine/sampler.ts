import { type Rng, rngFrom } from '#core/seed/index.ts';
import { endsWith } from './endings.ts';
import type { EngineRequest } from './types.ts';

/** Picks the next id of one request. `logits` [vocab] stays as it is; `tokens` is prompt and answer, `length` of them. */
export type Sampler = (logits: Float64Array, tokens: Int32Array, length: number) => number;

/**
 * Seeds for requests that bring none: a process-wide sequence that starts from 0, so that an unseeded answer depends
 * on how many unseeded requests came before (TensorRT-LLM, newer sources: an mt19937_64 seeded with 0).
 */
export function unseededSeeds(): () => bigint {
  const rng = rngFrom(0, 'requests without a seed');
  return () => BigInt(rng.int(0, Number.MAX_SAFE_INTEGER));
}

/**
 * TensorRT-LLM's sampling for beam width 1 (cpp/tensorrt_llm/kernels/penaltyKernels.cu, banBadWords.cu,
 * samplingTopKKernels.cu, samplingTopPKernels.cu, runtime/samplingConfig.h).
 *
 * Order: embedding bias, temperature, penalties (counts include the prompt), minimum length, bad words, choice.
 * Greedy: neither top_k nor top_p, or top_k 1, or temperature 0 with top_k. Temperature 0 with top_p alone is not
 * greedy: temperature and top_p become 1. Greedy ties go to the lowest id.
 *
 * Randomness: xoroshiro128+ (pure-rand) from the request's seed alone, one number per sampled id.
 */
export function createSampler(request: EngineRequest, seed: bigint, vocab: number, faults: ReadonlySet<string>): Sampler {
  const { sampling, minTokens, endId, embeddingBias, badWords } = request;
  const topK = sampling.topK !== undefined && sampling.topK > 0 ? sampling.topK : 0;
  const topP = sampling.topP !== undefined && sampling.topP > 0 ? sampling.topP : 0;
  const frozen = sampling.temperature === 0;
  // Fault: 0 counts as not set, so that a request without top_k and top_p is sampled from the whole vocabulary.
  const unset = topK === 0 && topP === 0 && !faults.has('greedy-varies-with-topk0-topp0');
  const greedy = unset || topK === 1 || (frozen && topK > 0);
  const temperature = frozen ? 1 : (sampling.temperature ?? 1);
  const choose = greedy
    ? faults.has('top-k-1-not-argmax-on-ties')
      ? drawAmongTies(rngFrom(0, String(seed)))
      : argmax
    : drawFromTop(vocab, topK || vocab, frozen ? 1 : topP || 1, rngFrom(0, String(seed)));
  const penalize = penalties(request, vocab);
  const ignoresMin = faults.has('min-length-ignored');
  const countsPrompt = faults.has('min-tokens-counts-prompt');
  const losesId = faults.has('invalid-token-where-eos-held-back');
  const plain = embeddingBias === undefined && temperature === 1 && penalize === undefined && badWords.length === 0;
  const work = new Float64Array(vocab);

  return (logits, tokens, length) => {
    const generated = countsPrompt ? length : length - request.promptIds.length;
    const holdsEos = !ignoresMin && generated < minTokens && endId >= 0;
    if (plain && !holdsEos) return choose(logits);
    work.set(logits);
    if (embeddingBias !== undefined) for (let id = 0; id < vocab; id++) work[id]! += embeddingBias[id] ?? 0;
    // The 1e-6 is upstream's guard against a division by zero (penaltyKernels.cu).
    if (temperature !== 1) for (let id = 0; id < vocab; id++) work[id]! *= 1 / (temperature + 1e-6);
    penalize?.(work, tokens, length);
    // Fault: the best id is looked up before EOS is held back, and where it was EOS the reduction keeps its initial id.
    if (losesId && holdsEos && argmax(work) === endId) return vocab;
    if (holdsEos && endId < vocab) work[endId] = -Infinity;
    for (const word of badWords) {
      const last = word.at(-1);
      if (last !== undefined && last >= 0 && last < vocab && endsWith(word.slice(0, -1), tokens, length)) work[last] = -Infinity;
    }
    return choose(work);
  };
}

/**
 * Log-softmax of the raw logits at `id`, in double.
 *
 * Upstream with normalize_log_probs gives the probability within the top k instead, which is 0 for a greedy answer
 * (samplingTopKKernels.cu); that is not modelled.
 */
export function logProbability(logits: Float64Array, id: number): number {
  let top = -Infinity;
  for (let i = 0; i < logits.length; i++) if (logits[i]! > top) top = logits[i]!;
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! - top);
  return logits[id]! - top - Math.log(sum);
}

/** The lowest id among the largest. */
function argmax(logits: Float64Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
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
function drawFromTop(vocab: number, k: number, p: number, rng: Rng): (logits: Float64Array) => number {
  const order = Array.from({ length: vocab }, (_, id) => id);
  return (logits) => {
    order.sort((a, b) => logits[b]! - logits[a]! || a - b);
    const top = logits[order[0]!]!;
    let sum = 0;
    for (let i = 0; i < k && i < vocab; i++) sum += Math.exp(logits[order[i]!]! - top);
    let rest = rng.float() * p * sum;
    for (let i = 0; i < k && i < vocab; i++) {
      rest -= Math.exp(logits[order[i]!]! - top);
      if (rest < 0) return order[i]!;
    }
    return order[0]!;
  };
}

/** Repetition, presence and frequency over all tokens so far, or undefined when none is set. */
function penalties(
  { sampling }: EngineRequest,
  vocab: number,
): ((logits: Float64Array, tokens: Int32Array, length: number) => void) | undefined {
  const repetition = sampling.repetitionPenalty ?? 1;
  const presence = sampling.presencePenalty ?? 0;
  const frequency = sampling.frequencyPenalty ?? 0;
  if (repetition === 1 && presence === 0 && frequency === 0) return undefined;
  const counts = new Int32Array(vocab);
  return (logits, tokens, length) => {
    counts.fill(0);
    for (let i = 0; i < length; i++) {
      const id = tokens[i]!;
      if (id >= 0 && id < vocab) counts[id]! += 1;
    }
    for (let id = 0; id < vocab; id++) {
      const count = counts[id]!;
      if (count === 0) continue;
      const logit = logits[id]!;
      logits[id] = (logit < 0 ? logit * repetition : logit / repetition) - presence - frequency * count;
    }
  };
}
