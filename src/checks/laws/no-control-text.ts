import { TEXT_ROUTES, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('no-control-text');

/** A model may spell a control token letter by letter; then the true decode has it too. */
export const noControlText: Law = {
  id: 'no-control-text',
  statement: 'No spelling of a special token appears in served text.',
  routes: TEXT_ROUTES,
  applies: (t) => t.text !== '',
  check(t, { tokenizer, truth }) {
    for (const id of tokenizer.specialIds) {
      const spelling = tokenizer.tokenText(id);
      if (spelling === undefined || spelling === '' || truth?.text.includes(spelling)) continue;
      const char = t.text.indexOf(spelling);
      if (char >= 0) return [broken('special-token', `${JSON.stringify(spelling)} in ${quote(t.text, char)}`, { char })];
    }
    return [];
  },
};
