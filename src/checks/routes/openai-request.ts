import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Case, Sampling } from '#core/request/index.ts';
import type { OpenAiBody } from '#wire/clients/index.ts';
import { textRouteCannotCarry } from './prompt.ts';
import type { RouteContext } from './types.ts';

/** What both OpenAI routes cannot carry (docs/observed.md#openai-front-end-r25-12: accepted and dropped, or refused). */
export function openAiCannotCarry(c: Case, profile: ReleaseProfile | undefined): string | undefined {
  const { limits, sampling } = c.request;
  if (profile?.openai.trtllmServe !== undefined) return textRouteCannotCarry(c.request);
  if (limits.minTokens !== undefined) return 'the OpenAI front end accepts min_tokens and drops it';
  if (sampling.kind === 'sampled' && sampling.topK !== undefined) return 'the OpenAI front end refuses top_k';
  return textRouteCannotCarry(c.request);
}

/**
 * Greedy is temperature 0 and top_p 0: temperature 0 alone leaves top_p at 1, which the engine samples from
 * (docs/determinism.md#greedy). null means "send no such tensor", as the raw route does.
 */
function triton(sampling: Sampling): OpenAiBody {
  if (sampling.kind === 'greedy') return { temperature: 0, top_p: 0 };
  return { temperature: sampling.temperature ?? null, top_p: sampling.topP ?? null, seed: sampling.seed };
}

/** Without top_k and top_p the engine is greedy whatever the temperature, and the LLM API, which then sends top_p 1, is not. */
function llmApi(sampling: Sampling): OpenAiBody {
  if (sampling.kind === 'greedy' || (sampling.topK === undefined && sampling.topP === undefined)) return { temperature: 0 };
  return {
    seed: sampling.seed,
    ...(sampling.temperature === undefined ? {} : { temperature: sampling.temperature }),
    ...(sampling.topK === undefined ? {} : { top_k: sampling.topK }),
    ...(sampling.topP === undefined ? {} : { top_p: sampling.topP }),
  };
}

/** Everything but the prompt. */
export function openAiBody(c: Case, context: RouteContext): OpenAiBody {
  const { limits, sampling } = c.request;
  const stream = c.mode === 'stream';
  return {
    model: context.models.openai,
    max_tokens: limits.maxTokens,
    stream,
    ...(stream && context.profile.openai.streamOptions.value === 'served' ? { stream_options: { include_usage: true } } : {}),
    ...(context.profile.openai.trtllmServe === undefined ? triton(sampling) : llmApi(sampling)),
    ...(limits.minTokens === undefined ? {} : { min_tokens: limits.minTokens }),
    ...(limits.stopWords !== undefined && limits.stopWords.length > 0 ? { stop: limits.stopWords } : {}),
  };
}
