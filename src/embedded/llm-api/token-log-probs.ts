import type { EngineStep } from '../engine/types.ts';

/** Log-probabilities that the engine returned for one position, best first. */
export type TokenLogProbs = ReadonlyMap<number, number>;

/** Of every step that drew an id: the `k` best, by the logits where there are some. Equal logits go by the lowest id. */
export function tokenLogProbs(step: EngineStep, ids: readonly number[], k: number): TokenLogProbs[] {
  return ids.map((id, i) => {
    const logits = step.logits[i];
    return logits === undefined ? new Map([[id, step.logProbs[i] ?? 0]]) : topOf(logits, k);
  });
}

function topOf(logits: Float32Array, k: number): TokenLogProbs {
  const order = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
  const top = logits[order[0]!]!;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - top);
  return new Map(order.slice(0, k).map((id) => [id, logits[id]! - top - Math.log(sum)]));
}
