import type { Case } from '#core/request/index.ts';
import type { OpenAiBody } from '#wire/clients/index.ts';
import { textRouteCannotCarry } from './prompt.ts';
import type { RouteContext } from './types.ts';

/** What both OpenAI routes cannot carry (docs/observed.md#openai-front-end-r25-12: accepted and dropped, or refused). */
export function openAiCannotCarry(c: Case): string | undefined {
  const { limits, sampling } = c.request;
  if (limits.minTokens !== undefined) return 'the OpenAI front end accepts min_tokens and drops it';
  if (sampling.kind === 'sampled' && sampling.topK !== undefined) return 'the OpenAI front end refuses top_k';
  return textRouteCannotCarry(c.request);
}

/**
 * Everything but the prompt. Greedy is temperature 0 and top_p 0: temperature 0 alone leaves top_p at 1, which the
 * engine samples from (docs/determinism.md#greedy). null means "send no such tensor", as the raw route does.
 */
export function openAiBody(c: Case, context: RouteContext): OpenAiBody {
  const { limits, sampling } = c.request;
  const stream = c.mode === 'stream';
  return {
    model: context.models.openai,
    max_tokens: limits.maxTokens,
    stream,
    ...(stream && context.profile.openai.streamOptions.value === 'served' ? { stream_options: { include_usage: true } } : {}),
    ...(sampling.kind === 'greedy'
      ? { temperature: 0, top_p: 0 }
      : { temperature: sampling.temperature ?? null, top_p: sampling.topP ?? null, seed: sampling.seed }),
    ...(limits.stopWords !== undefined && limits.stopWords.length > 0 ? { stop: limits.stopWords } : {}),
  };
}
