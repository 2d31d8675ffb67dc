import { answered, firstDifference, firstTextDifference, isRaw, isStream, nameId, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('deltas-equal-whole');

export const deltasEqualWhole: Law = {
  id: 'deltas-equal-whole',
  statement: 'The parts of a stream, put together, are the whole answer: ids by id, text by character.',
  routes: 'all',
  applies: (t, { truth }) => answered(t) && isStream(t) && truth !== undefined,
  check(t, context) {
    const { truth } = context;
    if (truth === undefined) return [];
    if (isRaw(t)) {
      const token = firstDifference(t.ids, truth.ids);
      if (token < 0) return [];
      const text = `at token ${token} the stream has ${nameId(t.ids[token], context)}, the whole ${nameId(truth.ids[token], context)}`;
      return [broken('ids', text, { token })];
    }
    const char = firstTextDifference(t.text, truth.text);
    if (char < 0) return [];
    return [broken('text', `at character ${char} the stream has ${quote(t.text, char)}, the whole ${quote(truth.text, char)}`, { char })];
  },
};
