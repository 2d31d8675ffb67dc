import type { FailingCase, Sighting, Tries } from '#checks/shrink/index.ts';
import { type Answer, ENGINE_RAN_ON, answerOn, certainText } from '#checks/laws/index.ts';
import { FLAG, type Transcript, textOfEvent } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/** What a script looks for in an answer (the checks of reproduce.py), and the values that it holds it against. */
export interface Symptom {
  readonly check: string;
  /** Values of a right answer; anything else is the symptom. */
  readonly right?: readonly unknown[];
  /** Where the server itself gave the wrong value as its accepted one: only these are the symptom. */
  readonly wrong?: readonly unknown[];
}

/** Laws that one look at one answer settles, whatever it says. */
const BY_LOOKS: Readonly<Record<string, string>> = {
  'answers-at-all': 'answer',
  framing: 'ending',
  'request-id-echoed': 'echo',
  'final-flag-once': 'finals',
  'done-marker': 'done',
  'role-first': 'role',
  'sequence-lengths-true': 'lengths',
  'cold-equals-warm': 'cold',
  'server-survives': 'dead',
};

/** Equal requests that a case is asked as, where it differs from itself: one that does so every other time is missed once in 2,000 times. */
const AGAIN = 12;

/** Undefined where no script can tell: what the law speaks of does not show in answers. */
export function symptomOf(
  failing: FailingCase,
  sighting: Sighting,
  { tokenizer, tries }: { readonly tokenizer: Tokenizer; readonly tries: Tries },
): Symptom | undefined {
  const { case: c, violation, asked, company } = failing;
  const { law, code } = violation;
  const looks = BY_LOOKS[law];
  if (looks !== undefined) return { check: looks };
  const { transcript: t, truth, reference } = sighting;
  if (t === undefined || truth === undefined || asked.cancel?.how === 'stop-tensor' || asked.cancel?.how === 'deadline') return undefined;
  if (law === 'cancel-frees') return code === ENGINE_RAN_ON ? { check: 'ran-on', right: [truth.ids.length] } : { check: 'held' };
  if (law === 'no-empty-event') return { check: 'empty', right: [emptyAllowed(t, truth, tokenizer)] };
  if (law === 'log-probs-real') return against('log-probs', Array.from(t.logProbs), [truth.logProbs]);
  if (law === 'finish-reason-true')
    return against(
      'finish',
      t.finishReasons.map(({ reason }) => reason),
      [[truth.finish === 'length' ? 'length' : 'stop']],
    );
  if (law === 'usage-counts' || law === 'prompt-ids' || (law === 'count-limit' && code === 'usage')) {
    const seen = t.usage === undefined ? null : [t.usage.promptTokens, t.usage.completionTokens];
    return against('usage', seen, [[truth.promptIds.length, truth.ids.length]]);
  }
  if ((law === 'bls-is-ensemble' || law === 'ends-alike') && reference !== undefined)
    return { check: 'parts', right: [partsOf(reference)] };
  if (['greedy-is-argmax', 'one-object', 'cancel-stops', 'texts-only-grow'].includes(law)) return undefined;
  // Alone, such a case differs from nothing but itself: which of its answers is right one request cannot tell.
  const alone = company.before.length + company.beside.length === 0;
  if (alone && (tries.k < tries.n || law === 'batch-invariance'))
    return { check: 'same', right: [c.route === 'raw' ? 'ids' : 'text', AGAIN] };
  if (c.route === 'raw') return against('ids', Array.from(t.ids), [truth.ids]);
  return against('text', t.text, forms(answerOn(c, truth, tokenizer), tokenizer));
}

function against(check: string, seen: unknown, right: readonly unknown[]): Symptom {
  const same = right.some((value) => JSON.stringify(value) === JSON.stringify(seen));
  return same ? { check, wrong: [seen] } : { check, right };
}

/** The texts of a right answer: releases differ in how they stream parts of characters, and in whether the prompt comes first (docs/observed.md). */
function forms(truth: Answer, tokenizer: Tokenizer): readonly string[] {
  const alone = truth.ids.map((id) => tokenizer.decode([id], { skipSpecialTokens: true })).join('');
  return [...new Set([truth.text, alone, certainText(tokenizer, truth), tokenizer.decode(truth.promptIds) + truth.text])];
}

function partsOf(t: Transcript): string[] {
  const parts: string[] = [];
  for (let i = 0; i < t.events; i++) if (((t.flags[i] as number) & FLAG.data) !== 0) parts.push(textOfEvent(t, i));
  return parts;
}

/** Events that may bring nothing: the end at EOS, and tokens that are no text by themselves. */
function emptyAllowed(t: Transcript, truth: Answer, tokenizer: Tokenizer): number {
  const atEnd = truth.finish === 'eos' ? 1 : 0;
  if (t.case.route === 'raw') return atEnd;
  const decoder = tokenizer.stream();
  return atEnd + truth.ids.filter((id) => decoder.push([id]) === '' || tokenizer.decode([id], { skipSpecialTokens: true }) === '').length;
}
