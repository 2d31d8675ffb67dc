import { answered, isOpenAi, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('usage-counts');

/**
 * Elsewhere usage is num_input_tokens and num_output_tokens, where they were asked for. completion_tokens is the sum of num_output_tokens over all responses, and EOS is never a response's token
 * (docs/observed.md).
 */
export const usageCounts: Law = {
  id: 'usage-counts',
  statement: 'Usage is served and counts exactly the tokens of the answer, EOS not among them.',
  routes: 'all',
  applies: (t, { truth }) => answered(t) && truth !== undefined && (isOpenAi(t) || t.usage !== undefined),
  check(t, { truth }) {
    const n = truth?.ids.length;
    if (t.usage === undefined) return [broken('missing', 'no usage was served')];
    return t.usage.completionTokens === n ? [] : [broken('count', `usage counts ${t.usage.completionTokens} tokens, the answer has ${n}`)];
  },
};
