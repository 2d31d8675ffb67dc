import { changes, IGNORED, ignored, wordOf } from '../judge.ts';
import { biasVector } from '../inputs.ts';
import { banned, biased, type Change, firstChange, winner } from '../oracle.ts';
import type { PairProbe, ProbeContext } from '../probe.ts';
import { LENGTH, type Subject } from '../subject.ts';

/** More than any logit of a language model is away from another. */
const ABSOLUTE = 1000;
const FORCED = 4;

/** Tokens that are taken out of the choice, or put into it. */
export const WORDS_AND_BIAS: readonly PairProbe[] = [
  {
    kind: 'pair',
    id: 'bad-words',
    effect: 'A bad word does not appear in the answer; the next best token takes its place.',
    words: ['badWords'],
    subjects: 2,
    asks(s, context) {
      const bad = badWord(s, context);
      return bad && { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, badWords: [bad.word] } };
    },
    shows(r) {
      const { id, change } = badWord(r.subject, r)!;
      const wrong = changes(r, change);
      return wrong ?? (r.replies['with']?.answers[0]?.ids?.includes(id) ? `the bad word, token ${id}, is in the answer` : undefined);
    },
  },
  {
    kind: 'pair',
    id: 'bias-forbids',
    effect: 'A huge negative embedding bias keeps a word out of the answer.',
    words: ['bias'],
    asks(s, context) {
      const found = forbidden(s, context);
      return found && { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, bias: [{ word: found.word, weight: -ABSOLUTE }] } };
    },
    shows: (r) => changes(r, forbidden(r.subject, r)!.change),
  },
  {
    kind: 'pair',
    id: 'bias-forces',
    effect: 'A huge positive embedding bias makes every token that of the word (or BOS, which preprocessing biases with it).',
    words: ['bias'],
    asks(s, context) {
      const word = lastWord(s, context);
      return word === undefined
        ? undefined
        : { without: { maxTokens: FORCED }, with: { maxTokens: FORCED, bias: [{ word, weight: ABSOLUTE }] } };
    },
    shows(r) {
      if (ignored(r)) return IGNORED;
      const ids = r.raw['with']?.answers[0]?.ids ?? [];
      const allowed = r.tokenizer.encode(lastWord(r.subject, r)!, { addSpecialTokens: true });
      if (ids.length === FORCED && ids.every((id) => allowed.includes(id))) return undefined;
      return `the ids are [${ids.join(', ')}], and only ${allowed.join(' and ')} can win`;
    },
  },
  {
    kind: 'pair',
    id: 'bias-in-logits',
    effect: 'An embedding bias is added to the logit: just less than the margin changes nothing, just more makes the runner-up win.',
    words: ['bias'],
    asks(s, context) {
      const close = runnerUp(s, context);
      if (close === undefined) return undefined;
      const { word, margin } = close;
      return {
        without: { maxTokens: 1 },
        with: { maxTokens: 1, bias: [{ word, weight: margin * 1.1 }] },
        less: { maxTokens: 1, bias: [{ word, weight: margin * 0.9 }] },
      };
    },
    shows(r) {
      const wrong = changes(r, { at: 0, id: runnerUp(r.subject, r)!.id });
      if (wrong !== undefined) return wrong;
      const [before, less] = [r.replies['without'], r.replies['less']].map((reply) => reply?.answers[0]?.text);
      return before === less ? undefined : 'a bias of nine tenths of the margin changes the answer';
    },
  },
];

function badWord(s: Subject, context: ProbeContext): { readonly id: number; readonly word: string; readonly change: Change } | undefined {
  for (const id of s.greedy) {
    const word = wordOf(id, context);
    const change = word === undefined ? undefined : firstChange(s, banned([[id]]));
    if (word !== undefined && change !== undefined) return { id, word, change };
  }
  return undefined;
}

function forbidden(s: Subject, context: ProbeContext): { readonly word: string; readonly change: Change } | undefined {
  for (const id of s.greedy) {
    const word = wordOf(id, context);
    if (word === undefined) continue;
    const change = firstChange(s, biased(biasVector([{ word, weight: -ABSOLUTE }], context.tokenizer)));
    if (change !== undefined) return { word, change };
  }
  return undefined;
}

/** Not the first token of the answer, so that the bias has something to change. */
function lastWord(s: Subject, context: ProbeContext): string | undefined {
  const id = s.greedy.findLast((candidate) => candidate !== s.greedy[0] && wordOf(candidate, context) !== undefined);
  return id === undefined ? undefined : wordOf(id, context);
}

function runnerUp(s: Subject, context: ProbeContext) {
  const [logits] = s.logits;
  if (logits === undefined) return undefined;
  const [first, margin] = winner(logits);
  const [id] = winner(Float64Array.from(logits, (logit, at) => (at === first ? -Infinity : logit)));
  const word = wordOf(id, context);
  if (word === undefined || margin < 0.5) return undefined;
  const change = firstChange({ ...s, logits: [logits] }, biased(biasVector([{ word, weight: margin * 1.1 }], context.tokenizer)));
  return change?.id === id ? { id, word, margin } : undefined;
}
