/**
 * What preprocessing and postprocessing were seen to do with a SentencePiece tokenizer of the kind of Llama 2
 * (docs/observed.md#sentencepiece), in the ids of docker/checkpoint/tiny-spm: 1 `<s>`, 2 `</s>`, byte b is b + 3, 333 `▁`.
 */
import type { TensorCase } from './grpc-tables.ts';
import { bytes, postprocessing, preprocessing } from './requests.ts';

const HELLO = [345, 315, 404];

const ids = (name: string, text: string, after: readonly number[]): TensorCase => ({
  spm: true,
  name,
  request: preprocessing([text], [7]),
  outputs: { INPUT_ID: ['INT32', [1, after.length + 1], [1, ...after]], REQUEST_INPUT_LEN: ['INT32', [1, 1], [after.length + 1]] },
});

const words = (name: string, list: readonly string[], phrases: readonly (readonly number[])[]): TensorCase => {
  const flat = phrases.flat();
  const ends = phrases.map((_, i) => phrases.slice(0, i + 1).flat().length);
  const padding = flat.map(() => -1).slice(ends.length);
  return {
    spm: true,
    name,
    request: preprocessing(['x'], [1], [bytes('STOP_WORDS_DICT', [1, list.length], list)]),
    outputs: { STOP_WORDS_IDS: ['INT32', [1, 2, flat.length], [...flat, ...ends, ...padding]] },
  };
};

export const PREPROCESSING_SPM: readonly TensorCase[] = [
  {
    spm: true,
    name: 'without a pad token, EOS is the pad id',
    request: preprocessing(['hello', ''], [7, 7]),
    outputs: {
      INPUT_ID: ['INT32', [2, 5], [1, 333, ...HELLO, 1, 2, 2, 2, 2]],
      DECODER_INPUT_ID: ['INT32', [2, 1], [2, 2]],
      OUT_END_ID: ['INT32', [2, 1], [2, 2]],
      OUT_PAD_ID: ['INT32', [2, 1], [2, 2]],
    },
  },
  {
    spm: true,
    name: 'every output has its dtype and shape',
    request: preprocessing(['hi'], [7]),
    outputs: {
      INPUT_ID: ['INT32', [1, 3], [1, 353, 312]], REQUEST_INPUT_LEN: ['INT32', [1, 1], [3]], DECODER_INPUT_ID: ['INT32', [1, 1], [2]], REQUEST_DECODER_INPUT_LEN: ['INT32', [1, 1], [1]],
      BAD_WORDS_IDS: ['INT32', [1, 2, 0], []], STOP_WORDS_IDS: ['INT32', [1, 2, 0], []], EMBEDDING_BIAS: ['FP32', [1, 0], undefined],
      REQUEST_OUTPUT_LEN: ['INT32', [1, 1], [7]], OUT_END_ID: ['INT32', [1, 1], [2]], OUT_PAD_ID: ['INT32', [1, 1], [2]],
    },
  },
  ids('BOS written in the prompt is doubled, EOS becomes the control token', '<s></s>', [1, 2]),
  { spm: true, name: 'a batch is padded with the pad id', request: preprocessing(['<s><s>', ''], [1, 1]), outputs: { INPUT_ID: ['INT32', [2, 3], [1, 1, 1, 1, 2, 2]], REQUEST_INPUT_LEN: ['INT32', [2, 1], [3, 1]] } },
  { spm: true, name: 'special text as a stop word is its id, beside an empty one', request: preprocessing(['x'], [1], [bytes('STOP_WORDS_DICT', [1, 2], ['</s>', ''])]), outputs: { STOP_WORDS_IDS: ['INT32', [1, 2, 1], [2, 1]] } },
  ids('a word gets a dummy prefix', 'hello', [333, ...HELLO]),
  ids('a space in front is that prefix: the same ids as without', ' hello', [333, ...HELLO]),
  ids('of two spaces one stays', '  hello', [333, 333, ...HELLO]),
  ids('a space behind stays', 'hello ', [333, ...HELLO, 333]),
  ids('a new line is a prefix and a byte', '\n', [333, 13]),
  ids('so are CR and LF before a word', '\r\nhello', [333, 16, 13, ...HELLO]),
  ids('and a tab', '\thello', [333, 12, ...HELLO]),
  ids('a NUL is a byte, and ends nothing', 'a\0b', [351, 3, 305]),
  ids('a no-break space is no space', '\u00a0hello', [333, 197, 163, ...HELLO]),
  ids('a zero-width space is kept', '\u200bhello', [333, 229, 131, 142, ...HELLO]),
  ids('a byte order mark is kept', '\ufeffhello', [333, 242, 190, 194, ...HELLO]),
  ids('a composed letter', 'é', [333, 330]),
  ids('is not the same decomposed', 'e\u0301', [333, 308, 207, 132]),
  ids('a ligature stays one', 'ﬁ', [333, 242, 175, 132]),
  ids('a full-width letter stays one', 'Ａ', [333, 242, 191, 164]),
  ids('thirteen bytes of four characters', '日本語🙂', [333, 233, 154, 168, 233, 159, 175, 235, 173, 161, 243, 162, 156, 133]),
  ids('special text is its id, and no prefix follows it', '<s>hello</s> x', [1, ...HELLO, 2, 333, 327]),
  ids('EOS written in the prompt is the control token', '</s>', [2]),
  ids('an empty prompt is BOS alone', '', []),
  words('stop words: with and without a space the same, a new line is two ids', ['stop', ' stop', 'hello world', '\n', '</s>', 'User:'], [
    [365, 323, 318, 319],
    [365, 323, 318, 319],
    [333, ...HELLO, 355, 367, 315, 307],
    [333, 13],
    [2],
    [333, 296, 322, 437, 274],
  ]),
  words('a comma in a stop word separates nothing', ['stop,hello'], [[365, 323, 318, 319, 261, ...HELLO]]),
];

const texts = (name: string, shape: readonly [number, number], rows: readonly (readonly number[])[], ...values: readonly string[]): TensorCase => ({
  spm: true,
  name,
  request: postprocessing(
    [1, ...shape],
    rows.flatMap((row) => [...row, ...Array.from<number>({ length: shape[1] - row.length }).fill(2)]),
    [rows.map((row) => row.length)],
  ),
  outputs: { OUTPUT: ['BYTES', [values.length], values] },
});

const CHUNKS = (all: readonly number[], n: number) => Array.from({ length: Math.ceil(all.length / n) }, (_, i) => all.slice(i * n, (i + 1) * n));
const CUT = '\ufffd';
const JAPANESE = [333, 233, 154, 168, 233, 159, 175, 235, 173, 161, 243, 162, 156, 133];

/** Each beam is one list to decode, as each response of a stream is. */
export const POSTPROCESSING_SPM: readonly TensorCase[] = [
  texts('inside a list spaces are right', [1, 10], [[1, 333, ...HELLO, 2, 355, 367, 315, 307]], 'hello world'),
  texts('one token at a time every leading space is lost', [3, 1], [[380], [402], [414]], 'The', 'blue', 'milk'),
  texts('and so are double spaces', [6, 1], [[351], [333], [360], [333], [333], [362]], 'a', '', 'b', '', '', 'c'),
  texts('in pairs, one space of each list', [3, 2], [[351, 333], [360, 333], [333, 362]], 'a ', 'b ', ' c'),
  texts('a new line is kept', [4, 1], [[308], [13], [13], [399]], 'e', '\n', '\n', 'in'),
  texts('a byte alone is U+FFFD', [14, 1], CHUNKS(JAPANESE, 1), '', ...Array.from<string>({ length: 13 }).fill(CUT)),
  texts('in pairs there is one U+FFFD for every byte, not for every broken part', [7, 2], CHUNKS(JAPANESE, 2), CUT, ...Array.from<string>({ length: 6 }).fill(CUT + CUT)),
  texts('in threes, behind the space, no character is whole', [5, 3], CHUNKS(JAPANESE, 3), CUT + CUT, CUT.repeat(3), CUT.repeat(3), CUT.repeat(3), CUT + CUT),
  texts('all at once they are', [1, 14], [JAPANESE], '日本語🙂'),
  texts('one byte too many breaks the whole run', [1, 15], [[...JAPANESE, 233]], CUT.repeat(14)),
];
