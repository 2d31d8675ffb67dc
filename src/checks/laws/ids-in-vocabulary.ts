import { violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('ids-in-vocabulary');

export const idsInVocabulary: Law = {
  id: 'ids-in-vocabulary',
  statement: 'Every id served is a token of the vocabulary: padding never counts as an answer.',
  routes: ['raw'],
  applies: (t) => t.ids.length > 0,
  check(t, { tokenizer }) {
    const token = t.ids.findIndex((id) => id < 0 || id >= tokenizer.vocabSize);
    if (token < 0) return [];
    return [
      broken('out-of-range', `id ${t.ids[token]} at position ${token}, the vocabulary ends at ${tokenizer.vocabSize - 1}`, { token }),
    ];
  },
};
