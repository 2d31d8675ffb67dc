import type { TableRow } from './table-claim.ts';

/** What rows say to one of this project's checkpoints, and what it was seen to answer, on a real tritonserver 2.51. */
export interface Dialect {
  readonly mark: Pick<TableRow, 'tiny' | 'spm'>;
  /** Answered by EOS at once; and the same as it is decoded, without control tokens. */
  readonly silence: string;
  readonly silenceShown: string;
  /** Answered by `counted`. */
  readonly count: string;
  readonly countShown: string;
  readonly counted: string;
  /** Between prompt and answer when both are decoded at once. */
  readonly between: string;
  /** The beginning of `counted`, each token decoded alone, as the ensemble streams it. */
  readonly pieces: readonly string[];
  /** Answered by more than 32 tokens at a high temperature. */
  readonly countFurther: string;
  /** `counted` with frequency_penalty 2 and presence_penalty 1.5. */
  readonly penalised: string;
  readonly ids: Readonly<Record<'bos' | 'eos' | 'pad' | 'a' | 'b' | 'c', number>>;
  /** A prompt with an answer of several tokens, as ids. */
  readonly promptIds: readonly number[];
  /** Ids of `a`, U+0000, `b` behind BOS. */
  readonly nulIds: readonly number[];
  /** Tokens of 900 times `long `, BOS included. */
  readonly longIds: number;
}

const TINY: Dialect = {
  mark: { tiny: true },
  silence: '<|user|>Say nothing.<|assistant|>',
  silenceShown: 'Say nothing.',
  count: '<|user|>Count from 1 to 9.<|assistant|>',
  countShown: 'Count from 1 to 9.',
  counted: '1, 2, 3, 4, 5, 6, 7, 8, 9.',
  between: '',
  pieces: ['1', ',', ' 2', ',', ' 3'],
  countFurther: '<|user|>Count from 1 to 20.<|assistant|>',
  penalised: '1, 2, 3, 4, 5, 6s7 was Satur » in French.',
  ids: { bos: 0, eos: 1, pad: 2, a: 70, b: 71, c: 72 },
  promptIds: [0, 4, 508, 270, 439, 19, 5],
  nulIds: [0, 70, 194, 71],
  longIds: 3601,
};

/** The chat form of Llama 2, in words that are no control tokens, so that they show; a space at the front of a list is lost. */
const SPM: Dialect = {
  mark: { spm: true },
  silence: '[INST] Say nothing. [/INST]',
  silenceShown: '[INST] Say nothing. [/INST]',
  count: '[INST] Count from 1 to 9. [/INST]',
  countShown: '[INST] Count from 1 to 9. [/INST]',
  counted: '1, 2, 3, 4, 5, 6, 7, 8, 9.',
  between: ' ',
  pieces: ['1', ',', '2', ',', '', '3', ',', '', '4', ',', '', '5'],
  countFurther: '[INST] Count from 1 to 20. [/INST]',
  penalised: '1, 2, 31.',
  ids: { bos: 1, eos: 2, pad: 2, a: 304, b: 305, c: 306 },
  promptIds: [1, 340, 419, 350, 317, 323, 372, 472, 369, 363, 333, 273, 262, 341],
  nulIds: [1, 351, 3, 305],
  longIds: 3602,
};

/** The same rows for both checkpoints: each is asked in its own words, and must give its own answers. */
export function onBoth<C extends TableRow>(rows: (dialect: Dialect) => readonly C[]): C[] {
  return [TINY, SPM].flatMap((dialect) => rows(dialect).map((row) => ({ ...row, ...dialect.mark })));
}
