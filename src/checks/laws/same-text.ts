import { describeCase } from '#core/request/index.ts';
import { TEXT_ROUTES, answered, firstTextDifference, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('same-text');

/** The text twin of `same-ids`; the reference is of the same route and mode, so that known gaps are on both sides. */
export const sameText: Law = {
  id: 'same-text',
  statement: 'The same request gives the same text as before, whatever else happens on the server.',
  routes: TEXT_ROUTES,
  applies: (t, { reference }) => answered(t) && reference !== undefined && answered(reference),
  check(t, { reference }) {
    if (reference === undefined) return [];
    const char = firstTextDifference(t.text, reference.text);
    if (char < 0) return [];
    const text = `at character ${char}: ${quote(t.text, char)}; ${describeCase(reference.case)}: ${quote(reference.text, char)}`;
    return [broken('text', text, { char })];
  },
};
