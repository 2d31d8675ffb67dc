import { answered, rightPromptIds, servedPromptIds, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('prompt-ids');

/** The prompt's ids are not served on text routes; their number is. */
export const promptIds: Law = {
  id: 'prompt-ids',
  statement: 'The server counts as many prompt tokens as the tokenizer makes of the prompt, with exactly one BOS.',
  routes: 'all',
  applies: (t) => answered(t) && t.usage !== undefined,
  check(t, { tokenizer, profile }) {
    const { request, route } = t.case;
    // What a front end encodes itself is its own to say; a doubled BOS is not.
    const right = profile.openai.doubleBos.value ? rightPromptIds(tokenizer, request) : servedPromptIds(request, route, tokenizer, profile);
    const expected = (t.promptIds ?? right).length;
    const served = t.usage?.promptTokens;
    return served === expected ? [] : [broken('count', `usage counts ${served} prompt tokens, the tokenizer makes ${expected}`)];
  },
};
