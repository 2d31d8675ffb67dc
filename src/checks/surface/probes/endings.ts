import { changes, gives, wordOf } from '../judge.ts';
import { firstChange } from '../oracle.ts';
import type { PairProbe, ProbeContext } from '../probe.ts';
import { LENGTH, type Subject } from '../subject.ts';

const SHORT = 5;

/** What ends an answer, and what keeps it from ending. */
export const ENDINGS: readonly PairProbe[] = [
  {
    kind: 'pair',
    id: 'max-tokens',
    effect: 'max_tokens ends the answer after that many tokens.',
    words: ['maxTokens'],
    asks: (s) => (s.greedy.length === LENGTH ? { without: { maxTokens: LENGTH }, with: { maxTokens: SHORT } } : undefined),
    shows: (r) => gives(r, 'without', r.subject.greedy) ?? gives(r, 'with', r.subject.greedy.slice(0, SHORT)),
  },
  {
    kind: 'pair',
    id: 'max-completion-tokens',
    effect: 'max_completion_tokens goes before max_tokens.',
    words: ['maxCompletionTokens'],
    when: ({ openai }) => openai.maxCompletionTokens.value,
    asks: (s) =>
      s.greedy.length === LENGTH ? { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, maxCompletionTokens: SHORT } } : undefined,
    shows: (r) => gives(r, 'with', r.subject.greedy.slice(0, SHORT)),
  },
  {
    kind: 'pair',
    id: 'min-tokens',
    effect: 'min_tokens holds EOS back until that many tokens were generated.',
    words: ['minTokens'],
    asks(s, context) {
      const { length } = s.greedy;
      if (!s.ended || length + 3 >= LENGTH || heldBack(s, context) === undefined) return undefined;
      return { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, minTokens: length + 3 } };
    },
    shows(r) {
      const wrong = changes(r, heldBack(r.subject, r)!);
      const ids = r.replies['with']?.answers[0]?.ids;
      const least = r.subject.greedy.length + 3;
      return wrong ?? (ids !== undefined && ids.length < least ? `${ids.length} tokens, at least ${least} were asked for` : undefined);
    },
  },
  {
    kind: 'pair',
    id: 'end-id',
    effect: 'The answer ends before the first token that end_id names.',
    words: ['endId'],
    asks(s) {
      const at = s.greedy.findIndex((id, k) => k > 0 && s.greedy.indexOf(id) === k);
      return at < 0 ? undefined : { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, endId: s.greedy[at]! } };
    },
    shows(r) {
      const at = r.subject.greedy.findIndex((id, k) => k > 0 && r.subject.greedy.indexOf(id) === k);
      return gives(r, 'with', r.subject.greedy.slice(0, at));
    },
  },
  {
    kind: 'pair',
    id: 'stop-words',
    effect: 'The answer ends with the first stop phrase, phrase included.',
    words: ['stopWords'],
    asks(s, context) {
      const stop = stopAt(s, context);
      return stop && { without: { maxTokens: LENGTH }, with: { maxTokens: LENGTH, stopWords: [stop.word] } };
    },
    shows: (r) => gives(r, 'with', r.subject.greedy.slice(0, stopAt(r.subject, r)!.at + 1)),
  },
];

function heldBack(s: Subject, { tokenizer }: ProbeContext) {
  const { eosId } = tokenizer;
  if (eosId === undefined) return undefined;
  return firstChange(s, (logits) => Float64Array.from(logits, (logit, id) => (id === eosId ? -Infinity : logit)));
}

/** The first token but the very first that is a phrase of its own, and leaves an answer to cut. */
function stopAt(s: Subject, context: ProbeContext): { readonly at: number; readonly word: string } | undefined {
  for (let at = 1; at < s.greedy.length - 1; at++) {
    const id = s.greedy[at]!;
    const word = wordOf(id, context);
    if (word !== undefined && s.greedy.indexOf(id) === at) return { at, word };
  }
  return undefined;
}
