import { type Answer, firstTextDifference } from '#checks/laws/index.ts';
import { type CompareOptions, IDENTICAL, findForeign, judgeFlip } from './judge-flip.ts';
import type { Comparison, Divergence } from './types.ts';

/**
 * How the server makes text of ids: the whole at once (right), every id alone (known gap `chunk-decoded-alone`), or prompt and
 * answer together, of which the prompt's text was taken away (`chat-returns-prompt`; SentencePiece leaves a space more then).
 */
export type TextForm = 'whole' | 'chunk-alone' | 'after-prompt';

/**
 * Judges observed text against the accepted answer, without ever encoding text into ids: the token where the decode of
 * the accepted ids parts from the text is found by its length, and the flip counts as noise only if the text goes on
 * with the spelling of the accepted runner-up there.
 */
export function compareText(expected: Answer, observed: string, options: CompareOptions & { readonly form?: TextForm }): Comparison {
  const spell = spelling(expected, options);
  const whole = (options.form ?? 'whole') === 'whole' ? expected.text : spell(expected.ids);
  const char = firstTextDifference(whole, observed);
  if (char < 0) return IDENTICAL;
  const foreign = findForeign(observed, expected, options);
  const at: Divergence = { token: undefined, char, expectedId: undefined, observedId: undefined, margin: undefined, runnerUp: undefined };
  if (foreign !== undefined) return { verdict: 'contaminated', divergence: at, text: `the text holds ${foreign}` };

  const ends = textEnds(expected, spell, options);
  const held = ends.findIndex((end) => end > char);
  // What is still held back at the end, a cut character, belongs to the last token.
  const token = held >= 0 ? held : char < whole.length ? ends.length - 1 : ends.length;
  const flip = likeliestFlip({ expected, observed, token, char, ends, spell, eosId: options.tokenizer.eosId });
  const divergenceAt = (k: number, observedId: number | undefined): Divergence => ({
    token: k,
    char,
    expectedId: k < expected.ids.length ? expected.ids[k] : options.tokenizer.eosId,
    observedId,
    margin: expected.margins[k],
    runnerUp: expected.runnerUps[k],
  });
  if (flip !== undefined) return judgeFlip(divergenceAt(flip, expected.runnerUps[flip]), options);
  if (token === expected.ids.length && expected.finish !== 'eos') {
    return {
      verdict: 'structural',
      divergence: at,
      text: `${observed.length - char} characters follow the end of the answer (${expected.finish})`,
    };
  }
  const divergence = divergenceAt(token, undefined);
  if (divergence.margin === undefined || options.sampled === true) return judgeFlip(divergence, options);
  if (observed.length === char) {
    return { verdict: 'structural', divergence, text: `the text stops after ${char} of ${whole.length} characters, inside token ${token}` };
  }
  const text = `the text parts from the answer in token ${token} and does not go on with the runner-up ${divergence.runnerUp}`;
  return { verdict: 'unexplained', divergence, text };
}

/** Tokens before the one that shows the difference which may have caused it: a longer token, or bytes of one character. */
const LOOK_BACK = 8;

type Spell = (ids: readonly number[]) => string;

function spelling({ promptIds }: Answer, { form, tokenizer }: CompareOptions & { readonly form?: TextForm }): Spell {
  const decode = (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: true });
  if (form === 'chunk-alone') return (ids) => ids.map((id) => decode([id])).join('');
  return form === 'after-prompt' ? (ids) => withoutPrompt(decode([...promptIds, ...ids]), decode(promptIds)) : decode;
}

/** What follows the prompt; all of it where the prompt's last bytes became something else with the answer's first. */
export function withoutPrompt(text: string, prompt: string): string {
  return text.startsWith(prompt) ? text.slice(prompt.length) : text;
}

/** Per token, how many characters are certain after it. */
function textEnds(expected: Answer, spell: Spell, { tokenizer, form }: CompareOptions & { readonly form?: TextForm }): number[] {
  const stream = tokenizer.stream();
  if (form === 'after-prompt') stream.push(expected.promptIds);
  let length = 0;
  return expected.ids.map((id) => (length += form === 'chunk-alone' ? spell([id]).length : stream.push([id]).length));
}

interface FlipSearch {
  readonly expected: Answer;
  readonly observed: string;
  readonly token: number;
  readonly char: number;
  readonly ends: readonly number[];
  readonly spell: Spell;
  readonly eosId: number | undefined;
}

/**
 * The position with the smallest margin at which the runner-up explains the text: its spelling follows the common
 * part. Earlier tokens than the one that holds the differing character count only if the runner-up's own spelling
 * covers that character (a longer token, or a part of the same character). A runner-up that spells a beginning of the
 * same text is not taken for a flip: the strict side of what text cannot tell.
 */
function likeliestFlip({ expected, observed, token, char, ends, spell, eosId }: FlipSearch): number | undefined {
  let best: number | undefined;
  for (let p = token; p >= 0 && p > token - LOOK_BACK; p--) {
    const runnerUp = expected.runnerUps[p];
    const margin = expected.margins[p];
    if (runnerUp === undefined || margin === undefined) continue;
    const before = expected.ids.slice(0, p);
    const sameCharacter = (ends[p - 1] ?? 0) === (ends[token - 1] ?? 0);
    const explains =
      runnerUp === eosId ? spell(before) === observed : follows(before, runnerUp, observed, sameCharacter ? -1 : char, spell);
    if (explains && (best === undefined || margin < (expected.margins[best] as number))) best = p;
  }
  return best;
}

function follows(before: readonly number[], runnerUp: number, observed: string, mustPass: number, spell: Spell): boolean {
  // A cut character at the end is not yet text; what is left must be in the observed text.
  const text = certain(spell([...before, runnerUp]));
  if (!observed.startsWith(text)) return false;
  return mustPass >= 0 ? text.length > mustPass : spell([runnerUp]) !== '';
}

function certain(text: string): string {
  return text.replace(/\ufffd+$/u, '');
}
