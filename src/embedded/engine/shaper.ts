import { endsWith } from './endings.ts';
import type { EngineRequest } from './types.ts';

/** Logits as the decoder sees them, from the raw ones [vocab] and the sequence: prompt and answer, `length` tokens of it. */
export interface Shaper {
  /** The result is valid until the next call; it is `logits` itself where nothing is to be changed. */
  shape(logits: Float64Array, tokens: Int32Array, length: number): Float64Array;
  /** Fault `invalid-token-where-eos-held-back`: the last call held back an EOS that would have won. */
  readonly heldBackBest: boolean;
}

/**
 * TensorRT-LLM's changes to the logits, in its order: embedding bias, temperature, repetition, presence and frequency
 * penalty (counts include the prompt), minimum length (cpp/tensorrt_llm/kernels/penaltyKernels.cu), bad words
 * (banBadWords.cu). Beam search and sampling share them.
 */
export function createShaper(request: EngineRequest, vocab: number, faults: ReadonlySet<string>): Shaper {
  const { sampling, minTokens, endId } = request;
  // Faults: kept with the request, and not read when the choice is made.
  const embeddingBias = faults.has('logit-bias-silently-ignored') ? undefined : request.embeddingBias;
  const badWords = faults.has('bad-words-ignored-torch-sampler') ? [] : request.badWords;
  // The runtime rewrites temperature 0 to 1 (runtime/samplingConfig.h).
  // Fault: it does not, and what the guard alone leaves is more than half precision holds: all that overflow are equal.
  const overflows = sampling.temperature === 0 && faults.has('temp0-wrong-output');
  const temperature = sampling.temperature === 0 && !overflows ? 1 : (sampling.temperature ?? 1);
  // Fault: penalties are accepted, and the sampler never looks at them.
  const penalize = faults.has('penalties-ignored-torch-sampler') ? undefined : penalties(request, vocab);
  const ignoresMin = faults.has('min-length-ignored');
  const countsPrompt = faults.has('min-tokens-counts-prompt');
  const losesId = faults.has('invalid-token-where-eos-held-back');
  const plain = embeddingBias === undefined && temperature === 1 && penalize === undefined && badWords.length === 0;
  const work = new Float64Array(vocab);
  let heldBackBest = false;

  return {
    get heldBackBest() {
      return heldBackBest;
    },
    shape(logits, tokens, length) {
      heldBackBest = false;
      const generated = countsPrompt ? length : length - request.promptIds.length;
      const holdsEos = !ignoresMin && generated < minTokens && endId >= 0;
      if (plain && !holdsEos) return logits;
      work.set(logits);
      if (embeddingBias !== undefined) for (let id = 0; id < vocab; id++) work[id]! += embeddingBias[id] ?? 0;
      // The 1e-6 is upstream's guard against a division by zero.
      if (temperature !== 1) for (let id = 0; id < vocab; id++) work[id]! *= 1 / (temperature + 1e-6);
      if (overflows) for (let id = 0; id < vocab; id++) if (work[id]! > LARGEST_HALF) work[id] = Infinity;
      penalize?.(work, tokens, length);
      // Fault: the best id is looked up before EOS is held back, and where it was EOS the reduction keeps its initial id.
      heldBackBest = losesId && holdsEos && argmax(work) === endId;
      if (holdsEos && endId < vocab) work[endId] = -Infinity;
      for (const word of badWords) {
        const last = word.at(-1);
        if (last !== undefined && last >= 0 && last < vocab && endsWith(word.slice(0, -1), tokens, length)) work[last] = -Infinity;
      }
      return work;
    },
  };
}

/** Above it half precision (IEEE 754 binary16) has infinity only. */
const LARGEST_HALF = 65504;

/** The lowest id among the largest. */
export function argmax(logits: Float64Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
}

/** The number that turns logits into log-probabilities when taken from them: log of the sum of their exponentials. */
export function logSumExp(logits: Float64Array): number {
  let top = -Infinity;
  for (let i = 0; i < logits.length; i++) if (logits[i]! > top) top = logits[i]!;
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! - top);
  return top + Math.log(sum);
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
