import { changes } from '../judge.ts';
import { firstChange, penalized } from '../oracle.ts';
import type { PairProbe } from '../probe.ts';
import { LENGTH } from '../subject.ts';
import type { Words } from '../words.ts';

/** The strongest that every route takes: the OpenAI schema ends at 2. */
const STRONG = 2;

function penalty(id: string, word: 'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty', effect: string): PairProbe {
  const words: Words = { [word]: STRONG };
  return {
    kind: 'pair',
    id,
    effect,
    words: [word],
    subjects: 2,
    asks: (s) =>
      firstChange(s, penalized(words)) === undefined
        ? undefined
        : { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, ...words } },
    shows: (r) => changes(r, firstChange(r.subject, penalized(words))!),
  };
}

/** What is taken from the logits of tokens that were seen, in prompt or answer. */
export const PENALTIES: readonly PairProbe[] = [
  penalty(
    'repetition-penalty',
    'repetitionPenalty',
    'The logit of a token that was seen is divided by the penalty, or multiplied where it is negative.',
  ),
  penalty('presence-penalty', 'presencePenalty', 'The penalty is taken once from the logit of a token that was seen.'),
  penalty('frequency-penalty', 'frequencyPenalty', 'The penalty is taken from the logit of a token as often as it was seen.'),
];
