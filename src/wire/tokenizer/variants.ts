/** Tokenizers for tests: the two committed ones, and their kin with one component exchanged each. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// oxlint-disable-next-line typescript/no-explicit-any -- any part of any tokenizer.json may be changed.
export type Change = (json: any) => void;

export const CHECKPOINTS = fileURLToPath(new URL('../../../docker/checkpoint', import.meta.url));

/** Runs `use` with a copy of a committed tokenizer folder whose tokenizer.json was changed. */
export async function withTokenizer(name: string, change: Change, use: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-tokenizer-'));
  try {
    const json = JSON.parse(readFileSync(join(CHECKPOINTS, name, 'tokenizer.json'), 'utf8'));
    change(json);
    writeFileSync(join(dir, 'tokenizer.json'), JSON.stringify(json));
    writeFileSync(join(dir, 'tokenizer_config.json'), readFileSync(join(CHECKPOINTS, name, 'tokenizer_config.json')));
    await use(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const split = (pattern: object, behavior: string, invert = false) => ({ type: 'Split', pattern, behavior, invert });
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
const LLAMA_3 = {
  Regex:
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

function add(json: { added_tokens: object[]; model: { vocab: object } }, content: string, options: object): void {
  const id =
    Object.keys(json.model.vocab).length +
    json.added_tokens.filter((t) => !((t as { content: string }).content in json.model.vocab)).length;
  json.added_tokens.push({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: false, ...options });
}

/** Everything that is accepted: name → (folder, what is exchanged). Each is compared with the Rust library. */
export const ACCEPTED: readonly (readonly [name: string, folder: string, change: Change])[] = [
  ['byte-level BPE', 'tiny', () => {}],
  [
    'byte-level BPE, NFC, a space in front',
    'tiny',
    (j) => {
      j.normalizer = { type: 'NFC' };
      j.pre_tokenizer.add_prefix_space = true;
      add(j, 'Heads é', { normalized: true });
    },
  ],
  [
    'byte-level BPE split as in Llama 3',
    'tiny',
    (j) => {
      j.pre_tokenizer = { type: 'Sequence', pretokenizers: [split(LLAMA_3, 'Isolated'), byteLevel] };
      j.model.ignore_merges = true;
    },
  ],
  [
    'byte-level BPE with digits apart',
    'tiny',
    (j) => {
      j.pre_tokenizer = { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] };
    },
  ],
  [
    'byte-level BPE with numbers apart',
    'tiny',
    (j) => {
      j.pre_tokenizer = { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: false }, byteLevel] };
    },
  ],
  ...['Isolated', 'Removed', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'].flatMap((behavior) =>
    [false, true].map(
      (invert) =>
        [
          `split ${behavior}${invert ? ', inverted' : ''}`,
          'tiny',
          (j) => {
            j.pre_tokenizer = {
              type: 'Sequence',
              pretokenizers: [split({ Regex: '[\\sé]' }, behavior, invert), split({ String: 'a' }, behavior, invert), byteLevel],
            };
          },
        ] as const satisfies [string, string, Change],
    ),
  ),
  [
    'added tokens that take white space along',
    'tiny',
    (j) => {
      add(j, '<|left|>', { lstrip: true, special: true });
      add(j, '<|right|>', { rstrip: true });
      add(j, '<|both|>', { lstrip: true, rstrip: true });
      add(j, 'éö猫', {});
      add(j, 'éö', {});
    },
  ],
  ['SentencePiece BPE', 'tiny-spm', () => {}],
  [
    'SentencePiece BPE of the legacy kind',
    'tiny-spm',
    (j) => {
      j.pre_tokenizer = null;
      j.normalizer = {
        type: 'Sequence',
        normalizers: [
          { type: 'Prepend', prepend: '▁' },
          { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
        ],
      };
    },
  ],
  [
    'SentencePiece BPE without a dummy prefix, as in Gemma',
    'tiny-spm',
    (j) => {
      j.pre_tokenizer = split({ String: ' ' }, 'MergedWithPrevious');
      j.normalizer = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
      j.decoder.decoders.pop();
    },
  ],
  ...['always', 'first', 'never'].flatMap((prepend_scheme) =>
    [false, true].map(
      (isSplit) =>
        [
          `Metaspace ${prepend_scheme}${isSplit ? ', split' : ''}`,
          'tiny-spm',
          (j) => {
            j.pre_tokenizer = { type: 'Metaspace', replacement: '▁', prepend_scheme, split: isSplit };
            j.decoder = {
              type: 'Sequence',
              decoders: [{ type: 'ByteFallback' }, { type: 'Metaspace', replacement: '▁', prepend_scheme, split: isSplit }],
            };
            add(j, '<|right|>', { rstrip: true });
            add(j, ' <|space|>', { lstrip: true });
          },
        ] as const satisfies [string, string, Change],
    ),
  ),
];

/** What is refused: the words that name it → (folder, what is put in). */
export const REFUSED: readonly (readonly [name: string, folder: string, change: Change])[] = [
  ['truncation', 'tiny', (j) => (j.truncation = { max_length: 4 })],
  ['padding', 'tiny', (j) => (j.padding = { strategy: 'BatchLongest' })],
  ['model Unigram', 'tiny', (j) => (j.model = { type: 'Unigram', vocab: [['a', 0]], unk_id: 0, byte_fallback: true })],
  ['model WordPiece', 'tiny', (j) => (j.model.type = 'WordPiece')],
  ['dropout', 'tiny', (j) => (j.model.dropout = 0.1)],
  ['end_of_word_suffix', 'tiny', (j) => (j.model.end_of_word_suffix = '</w>')],
  ['continuing_subword_prefix', 'tiny', (j) => (j.model.continuing_subword_prefix = '##')],
  ['characters without a token', 'tiny-spm', (j) => (j.model.byte_fallback = false)],
  ['lacks a token for some byte', 'tiny-spm', (j) => delete j.model.vocab['<0x41>']],
  ['merges of byte tokens', 'tiny-spm', (j) => (j.model.merges.push(['<0xC3>', '<0xA9>']), (j.model.vocab['<0xC3><0xA9>'] = 512))],
  ['added token "<|bos|>" with single_word', 'tiny', (j) => (j.added_tokens[0].single_word = true)],
  ['added token "<gap>" with id 600, which is loaded as 512', 'tiny', (j) => add(j, '<gap>', { id: 600 })],
  [
    'added token "<s>" that is normalized',
    'tiny-spm',
    (j) => {
      j.normalizer = { type: 'Prepend', prepend: '▁' };
      j.pre_tokenizer = null;
      j.added_tokens[1].normalized = true;
    },
  ],
  ['normalizer NFKC', 'tiny', (j) => (j.normalizer = { type: 'NFKC' })],
  ['normalizer Nmt', 'tiny', (j) => (j.normalizer = { type: 'Nmt' })],
  ['normalizer ByteLevel', 'tiny', (j) => (j.normalizer = { type: 'ByteLevel' })],
  ['normalizer Replace with an expression', 'tiny-spm', (j) => (j.normalizer = { type: 'Replace', pattern: { Regex: ' ' }, content: '' })],
  [
    'pre-tokenizer CharDelimiterSplit',
    'tiny',
    (j) => (j.pre_tokenizer = { type: 'Sequence', pretokenizers: [{ type: 'CharDelimiterSplit', delimiter: 'a' }, byteLevel] }),
  ],
  ['pre-tokenizer UnicodeScripts', 'tiny-spm', (j) => (j.pre_tokenizer = { type: 'UnicodeScripts' })],
  [
    'pre-tokenizer Metaspace in a sequence',
    'tiny-spm',
    (j) => (j.pre_tokenizer = { type: 'Sequence', pretokenizers: [j.pre_tokenizer, { type: 'Digits' }] }),
  ],
  ['pre-tokenizer Metaspace after normalizer Prepend', 'tiny-spm', (j) => (j.normalizer = { type: 'Prepend', prepend: '▁' })],
  [
    'post-processor BertProcessing',
    'tiny',
    (j) => (j.post_processor = { type: 'BertProcessing', sep: ['<|eos|>', 1], cls: ['<|bos|>', 0] }),
  ],
  ['decoder WordPiece', 'tiny', (j) => (j.decoder = { type: 'WordPiece', prefix: '##', cleanup: true })],
  ['decoder Strip at the end', 'tiny-spm', (j) => (j.decoder.decoders[3].stop = 1)],
  ['decoder Replace with an expression', 'tiny-spm', (j) => (j.decoder.decoders[0].pattern = { Regex: '▁' })],
  ['no decoder', 'tiny', (j) => (j.decoder = null)],
];
