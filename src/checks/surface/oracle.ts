/** What a parameter must do to logits, computed apart from any engine: the rules of TensorRT-LLM for one beam. */
import type { Subject } from './subject.ts';
import type { Words } from './words.ts';

/** From the raw logits of a step, and the tokens before it, to the logits that the choice is made from. */
export type Shape = (logits: Float32Array, tokens: readonly number[]) => Float64Array;

export interface Change {
  /** Index of the generated token that the parameter changes first. */
  readonly at: number;
  readonly id: number;
}

/** Below this margin float32 arithmetic may choose otherwise, so such a step predicts nothing. */
const CLEAR = 1e-3;

/** Where the greedy answer first changes under a shape; undefined when it does not, or not clearly. */
export function firstChange(s: Pick<Subject, 'ids' | 'greedy' | 'logits'>, shape: Shape): Change | undefined {
  for (const [at, logits] of s.logits.entries()) {
    const [id, margin] = winner(shape(logits, [...s.ids, ...s.greedy.slice(0, at)]));
    if (margin < CLEAR) return undefined;
    // Where EOS was drawn there is no id; and of two that float32 cannot tell apart, the logits do not say which won.
    const was = s.greedy[at] ?? winner(logits)[0];
    if (id !== was) return { at, id };
  }
  return undefined;
}

/** The lowest id among the largest, and how far ahead it is. */
export function winner(logits: ArrayLike<number>): readonly [id: number, margin: number] {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  let next = -Infinity;
  for (let id = 0; id < logits.length; id++) if (id !== best && logits[id]! > next) next = logits[id]!;
  return [best, logits[best]! - next];
}

/** Added before anything else (cpp/tensorrt_llm/kernels/penaltyKernels.cu). */
export function biased(vector: Float32Array): Shape {
  return (logits) => Float64Array.from(logits, (logit, id) => logit + (vector[id] ?? 0));
}

/** The token that would complete a phrase is out of the choice (cpp/tensorrt_llm/kernels/banBadWords.cu). */
export function banned(phrases: readonly (readonly number[])[]): Shape {
  return (logits, tokens) => {
    const out = Float64Array.from(logits);
    for (const phrase of phrases) {
      const head = phrase.slice(0, -1);
      if (head.every((id, i) => tokens[tokens.length - head.length + i] === id)) out[phrase.at(-1)!] = -Infinity;
    }
    return out;
  };
}

/** Tokens of prompt and answer are counted together (cpp/tensorrt_llm/kernels/penaltyKernels.cu). */
export function penalized(words: Pick<Words, 'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty'>): Shape {
  const { repetitionPenalty: repetition = 1, presencePenalty: presence = 0, frequencyPenalty: frequency = 0 } = words;
  return (logits, tokens) => {
    const counts = new Map<number, number>();
    for (const id of tokens) counts.set(id, (counts.get(id) ?? 0) + 1);
    const out = Float64Array.from(logits);
    for (const [id, count] of counts) {
      const logit = out[id]!;
      out[id] = (logit < 0 ? logit * repetition : logit / repetition) - presence - frequency * count;
    }
    return out;
  };
}

/** The chance of every id: softmax of logits / temperature inside the `topK` largest, then the smallest head that holds `topP`. */
export function chances(
  logits: Float32Array,
  { temperature = 1, topK = 0, topP = 1 }: { readonly temperature?: number; readonly topK?: number; readonly topP?: number },
): Float64Array {
  let top = -Infinity;
  for (const logit of logits) top = Math.max(top, logit);
  const weights = new Float64Array(logits.length);
  for (let id = 0; id < weights.length; id++) weights[id] = Math.exp((logits[id]! - top) / temperature);
  if (topK > 0 || topP < 1) keepHead(weights, topK > 0 ? topK : weights.length, topP);
  const sum = weights.reduce((a, b) => a + b, 0);
  for (let id = 0; id < weights.length; id++) weights[id]! /= sum;
  return weights;
}

/** Ties go to the lowest id. */
function keepHead(weights: Float64Array, topK: number, topP: number): void {
  const order = Array.from(weights.keys()).toSorted((a, b) => weights[b]! - weights[a]! || a - b);
  const sum = order.slice(0, topK).reduce((total, id) => total + weights[id]!, 0);
  let before = 0;
  for (const [i, id] of order.entries()) {
    const kept = i < topK && before < topP * sum;
    before += weights[id]!;
    if (!kept) weights[id] = 0;
  }
}
