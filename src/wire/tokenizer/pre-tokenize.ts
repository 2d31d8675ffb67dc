import { SplitPreTokenizer } from './library.ts';
import { SYMBOL_OF_BYTE } from './byte-symbols.ts';
import { escapePattern } from './escape-pattern.ts';
import { type Component, patternOf, stepsOf } from './tokenizer-json.ts';
import { asOnigurumaSees } from './unicode.ts';

/** `atStart`: the text that is being encoded begins here. */
interface Piece {
  readonly text: string;
  readonly atStart: boolean;
}

type Step = (piece: Piece) => readonly string[];

/**
 * Cuts normalized text into the words that BPE works on. Rules of the Rust library (huggingface/tokenizers
 * `pre_tokenizers/`); Oniguruma expressions are translated by @huggingface/tokenizers.
 */
export function preTokenizer(part: Component | null | undefined): (text: string, atStart: boolean) => readonly string[] {
  const steps = stepsOf(part).map(stepOf);
  return (text, atStart) => {
    let pieces: Piece[] = [{ text, atStart }];
    for (const step of steps) {
      pieces = pieces.flatMap((piece) =>
        step(piece)
          .filter((word) => word !== '')
          .map((word, i) => ({ text: word, atStart: piece.atStart && i === 0 })),
      );
    }
    return pieces.map((piece) => piece.text);
  };
}

function stepOf(part: Component): Step {
  switch (part.type) {
    case 'ByteLevel':
      return byteLevel(part);
    case 'Metaspace':
      return metaspace(part);
    case 'Digits':
      return ({ text }) => cut(text, /\p{N}/gu, part['individual_digits'] === true ? 'Isolated' : 'Contiguous', false);
    default:
      return split(part);
  }
}

/** The expression of GPT-2 (huggingface/tokenizers `pre_tokenizers/byte_level.rs`), with Unicode's white space for `\s`. */
const GPT_2 =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

function byteLevel(part: Component): Step {
  const utf8 = new TextEncoder();
  return ({ text }) => {
    const spaced = part['add_prefix_space'] === true && !text.startsWith(' ') ? ` ${text}` : text;
    const words = part['use_regex'] === false ? [spaced] : cut(spaced, GPT_2, 'Isolated', false, asOnigurumaSees(spaced));
    return words.map((word) => Array.from(utf8.encode(word), (byte) => SYMBOL_OF_BYTE[byte]).join(''));
  };
}

function metaspace(part: Component): Step {
  const mark = String(part['replacement']);
  const scheme = part['prepend_scheme'] ?? 'always';
  return ({ text, atStart }) => {
    const marked = text.replaceAll(' ', mark);
    const prefixed = !marked.startsWith(mark) && (scheme === 'always' || (scheme === 'first' && atStart)) ? mark + marked : marked;
    return part['split'] === false ? [prefixed] : cut(prefixed, new RegExp(escapePattern(mark), 'gu'), 'MergedWithNext', false);
  };
}

function split(part: Component): Step {
  const { pattern } = new SplitPreTokenizer({ pattern: patternOf(part), invert: false });
  return ({ text }) => cut(text, pattern, part['behavior'] as Behavior, part['invert'] === true, asOnigurumaSees(text));
}

type Behavior = 'Isolated' | 'Removed' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous';

/** Splits at the matches of a pattern (huggingface/tokenizers `tokenizer/normalizer.rs`, `split`); `seen` is what it is matched with. */
function cut(text: string, pattern: RegExp, behavior: Behavior, invert: boolean, seen = text): string[] {
  const parts: { text: string; isMatch: boolean }[] = [];
  let done = 0;
  for (const match of seen.matchAll(pattern)) {
    if (match.index > done) parts.push({ text: text.slice(done, match.index), isMatch: invert });
    const end = match.index + match[0].length;
    parts.push({ text: text.slice(match.index, end), isMatch: !invert });
    done = end;
  }
  if (done < text.length) parts.push({ text: text.slice(done), isMatch: invert });
  if (behavior === 'Isolated') return parts.map((part) => part.text);
  if (behavior === 'Removed') return parts.filter((part) => !part.isMatch).map((part) => part.text);
  if (behavior === 'MergedWithNext') return merged(parts.toReversed(), (word, last) => word + last).toReversed();
  if (behavior === 'MergedWithPrevious') return merged(parts, (word, last) => last + word);
  const words: string[] = [];
  parts.forEach((part, i) => {
    // Before the first part stands, so to say, one that is no match.
    if (part.isMatch === (parts[i - 1]?.isMatch ?? false) && words.length > 0) words.push(words.pop() + part.text);
    else words.push(part.text);
  });
  return words;
}

/** Joins each match to what came before it in this order, unless that was a match too. */
function merged(parts: readonly { text: string; isMatch: boolean }[], join: (word: string, last: string) => string): string[] {
  const words: string[] = [];
  parts.forEach((part, i) => {
    const last = part.isMatch && parts[i - 1]?.isMatch !== true ? words.pop() : undefined;
    words.push(last === undefined ? part.text : join(part.text, last));
  });
  return words;
}
