import { TEXT_ROUTES, answered, firstTextDifference, isStream, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('text-is-true-decode');

/** Streams are held to the same by `deltas-equal-whole`. */
export const textIsTrueDecode: Law = {
  id: 'text-is-true-decode',
  statement: 'The text of an answer served whole is the exact decode of its ids, without the prompt.',
  routes: TEXT_ROUTES,
  applies: (t, { truth }) => answered(t) && !isStream(t) && truth !== undefined,
  check(t, { truth }) {
    if (truth === undefined) return [];
    const char = firstTextDifference(t.text, truth.text);
    if (char < 0) return [];
    return [
      broken('text', `at character ${char} the answer has ${quote(t.text, char)}, the true decode ${quote(truth.text, char)}`, { char }),
    ];
  },
};
