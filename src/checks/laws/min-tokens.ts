import { answered, isRaw, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('min-tokens');

/** min_tokens holds back EOS only: a stop phrase may still end the answer before it (TensorRT-LLM, min_length penalty on end_id). */
export const minTokens: Law = {
  id: 'min-tokens',
  statement: 'No answer ends at EOS before min_tokens tokens, prompt not counted.',
  routes: 'all',
  applies: (t, { truth }) =>
    answered(t) && (t.case.request.limits.minTokens ?? 0) > 0 && truth?.finish !== 'stop-words' && (isRaw(t) || t.usage !== undefined),
  check(t) {
    const { minTokens: min = 0, maxTokens } = t.case.request.limits;
    const least = Math.min(min, maxTokens);
    const n = isRaw(t) ? t.ids.length : (t.usage?.completionTokens ?? 0);
    return n >= least ? [] : [broken('too-few', `${n} tokens were served, at least ${least} were asked for`, { token: n })];
  },
};
