/**
 * Log-probabilities as both endpoints print them. Source: create_logprobs and create_completion_logprobs,
 * tensorrt_llm/serve/postprocess_handlers.py; docs/observed.md#trtllm-serve.
 */
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { RequestFailure } from './bad-request.ts';
import { type Dumpable, Float } from './dump.ts';
import type { TokenLogProbs } from '../llm-api/token-log-probs.ts';

/** Where the engine's map has not the id that was drawn, and below. */
const LOWEST = -9999;

const spelling = (tokenizer: Tokenizer, id: number): string => tokenizer.decode([id], { skipSpecialTokens: false });
const clamped = (value: number | undefined): number => Math.max(value ?? LOWEST, LOWEST);

/** A stop that took ids back left their log-probabilities. */
function sameLength(ids: readonly number[], logProbs: readonly TokenLogProbs[]): void {
  if (ids.length !== logProbs.length) throw new RequestFailure('token_ids and logprobs have different lengths');
}

export function chatLogProbs(tokenizer: Tokenizer, ids: readonly number[], logProbs: readonly TokenLogProbs[], withTop: boolean): Dumpable {
  sameLength(ids, logProbs);
  const entry = (id: number, logProb: number | undefined) => {
    const token = spelling(tokenizer, id);
    return { token, logprob: new Float(clamped(logProb)), bytes: [...Buffer.from(token, 'utf8')] };
  };
  const content = ids.map((id, i) => {
    const known = logProbs[i] ?? new Map<number, number>();
    const top = withTop && known.has(id) ? [...known].map(([other, value]) => entry(other, value)) : null;
    return { ...entry(id, known.get(id)), top_logprobs: top };
  });
  return { content };
}

/** @param offset characters of the answer before these ids */
export function completionLogProbs(
  tokenizer: Tokenizer,
  ids: readonly number[],
  logProbs: readonly TokenLogProbs[],
  offset: number,
): Dumpable {
  sameLength(ids, logProbs);
  const tokens = ids.map((id) => spelling(tokenizer, id));
  const offsets: number[] = [];
  // Upstream adds the length of the token itself, not of the one before it.
  for (const [i, token] of tokens.entries()) offsets.push(i === 0 ? offset : offsets[i - 1]! + token.length);
  return {
    text_offset: offsets,
    token_logprobs: ids.map((id, i) => new Float(clamped(logProbs[i]?.get(id)))),
    tokens,
    top_logprobs: logProbs.map((known) =>
      Object.fromEntries([...known].map(([id, value]) => [spelling(tokenizer, id), new Float(clamped(value))])),
    ),
  };
}
