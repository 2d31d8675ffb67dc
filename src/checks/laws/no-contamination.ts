import { isRaw, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('no-contamination');

/** Answers held text from other users' prompts under cache offload (NVIDIA/TensorRT-LLM#8813). */
export const noContamination: Law = {
  id: 'no-contamination',
  statement: 'No answer holds a word that belongs to another request only.',
  routes: 'all',
  applies: (t, { foreignMarks }) => (foreignMarks?.length ?? 0) > 0 && (t.ids.length > 0 || t.text !== ''),
  check(t, { tokenizer, foreignMarks, truth }) {
    const text = isRaw(t) ? tokenizer.decode(t.ids, { skipSpecialTokens: true }) : t.text;
    for (const mark of foreignMarks ?? []) {
      if (mark === '' || truth?.text.includes(mark)) continue;
      const char = text.indexOf(mark);
      if (char >= 0) return [broken('foreign-word', `${JSON.stringify(mark)} of another request in ${quote(text, char)}`, { char })];
    }
    return [];
  },
};
