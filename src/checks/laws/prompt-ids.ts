import { answered, rightPromptIds, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('prompt-ids');

/** The prompt's ids are not served on text routes; their number is. */
export const promptIds: Law = {
  id: 'prompt-ids',
  statement: 'The server counts as many prompt tokens as the tokenizer makes of the prompt, with exactly one BOS.',
  routes: 'all',
  applies: (t) => answered(t) && t.usage !== undefined,
  check(t, { tokenizer }) {
    const expected = t.promptIds?.length ?? rightPromptIds(tokenizer, t.case.request).length;
    const served = t.usage?.promptTokens;
    return served === expected ? [] : [broken('count', `usage counts ${served} prompt tokens, the tokenizer makes ${expected}`)];
  },
};
