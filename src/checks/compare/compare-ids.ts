import { type Answer, firstDifference, firstTextDifference } from '#checks/laws/index.ts';
import { type CompareOptions, IDENTICAL, findForeign, judgeFlip } from './judge-flip.ts';
import type { Comparison, Divergence } from './types.ts';

export interface ObservedIds {
  readonly ids: ArrayLike<number>;
  /** Why it ended, where that is known; undefined: unknown, so only the ids are compared. */
  readonly finish?: Answer['finish'] | undefined;
  /** Text that was served or decoded with the ids, if it is to be compared too. */
  readonly text?: string | undefined;
}

/** Judges observed ids against the accepted answer. */
export function compareIds(expected: Answer, observed: ObservedIds, options: CompareOptions): Comparison {
  const at = firstDifference(expected.ids, observed.ids);
  if (at < 0) return compareEnd(expected, observed, options);
  const { tokenizer } = options;
  const eos = tokenizer.eosId;
  const expectedId = at < expected.ids.length ? expected.ids[at] : expected.finish === 'eos' ? eos : undefined;
  const observedId = at < observed.ids.length ? observed.ids[at] : observed.finish === 'eos' ? eos : undefined;
  const divergence: Divergence = {
    token: at,
    char: tokenizer.decode(expected.ids.slice(0, at), { skipSpecialTokens: true }).length,
    expectedId,
    observedId,
    margin: expected.margins[at],
    runnerUp: expected.runnerUps[at],
  };
  const structural = (text: string): Comparison => ({ verdict: 'structural', divergence, text });
  for (let i = at; i < observed.ids.length; i++) {
    const id = observed.ids[i] as number;
    if (id < 0 || id >= tokenizer.vocabSize) return structural(`id ${id} at token ${i} is not in the vocabulary`);
    if (id === eos && expected.finish !== 'length') return structural(`EOS is visible at token ${i} of ${observed.ids.length}`);
  }
  if (options.foreign !== undefined) {
    const foreign = findForeign(tokenizer.decode(observed.ids, { skipSpecialTokens: true }), expected, options);
    if (foreign !== undefined) return { verdict: 'contaminated', divergence, text: `from token ${at} on the answer holds ${foreign}` };
  }
  if (expectedId === undefined) {
    return structural(`${observed.ids.length - at} ids follow token ${at - 1}, where ${expected.finish} ends the answer`);
  }
  if (observedId === undefined) {
    return structural(
      `the answer stops after ${at} of ${expected.ids.length} ids${observed.finish === undefined ? '' : ` by ${observed.finish}`}`,
    );
  }
  return judgeFlip(divergence, options);
}

function compareEnd(expected: Answer, observed: ObservedIds, options: CompareOptions): Comparison {
  const token = expected.ids.length;
  const ends = { expectedId: undefined, observedId: undefined, margin: undefined, runnerUp: undefined };
  if (observed.finish !== undefined && observed.finish !== expected.finish) {
    const divergence: Divergence = { token, char: expected.text.length, ...ends };
    return { verdict: 'structural', divergence, text: `the same ${token} ids, but ended by ${observed.finish}, not by ${expected.finish}` };
  }
  if (observed.text !== undefined && observed.text !== expected.text) {
    const char = firstTextDifference(expected.text, observed.text);
    const foreign = findForeign(observed.text, expected, options);
    const verdict = foreign === undefined ? 'structural' : 'contaminated';
    const why = foreign === undefined ? 'the text is not the decode of the ids' : `the text holds ${foreign}`;
    return {
      verdict,
      divergence: { token: undefined, char, ...ends },
      text: `the same ${token} ids, but ${why} from character ${char} on`,
    };
  }
  return IDENTICAL;
}
