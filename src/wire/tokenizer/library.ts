import * as huggingface from '@huggingface/tokenizers';
import type { BpeModel } from './tokenizer-json.ts';

interface Library {
  /** Byte-pair encoding of words to the names of tokens; exact against the Rust library where `exactness.ts` lets it be used. */
  readonly BPE: new (model: BpeModel) => { encode(words: readonly string[]): string[] };
  /** Taken for its `pattern`: an Oniguruma expression as a JavaScript one. */
  readonly SplitPreTokenizer: new (part: { pattern: object; invert: boolean }) => { readonly pattern: RegExp };
}

/** What is used of @huggingface/tokenizers 0.2.0, whose own declarations do not resolve under NodeNext. */
export const { BPE, SplitPreTokenizer } = huggingface as unknown as Library;
