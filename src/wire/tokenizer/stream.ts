import type { StreamDecoder } from './types.ts';

const REPLACEMENT = '\uFFFD';

/**
 * Streaming detokenization: decodes a growing window and gives its text once that cannot change any more.
 *
 * The window keeps the tokens of the last certain text in front of the new ones, because decoders may treat the first
 * token of a list differently (SentencePiece drops its leading space). The window method is the one of Hugging Face's
 * `DecodeStream` (tokenizers, `tokenizer/mod.rs`); joined pieces equal the decode of the whole list. A text that ends in
 * a true U+FFFD is held back until the next token or the end, since it looks the same as half a character.
 */
export function streamDecoder(decode: (ids: number[]) => string): StreamDecoder {
  let window: number[] = [];
  /** How many ids at the start of the window are already given out. */
  let given = 0;
  let prefix = '';

  const release = (text: string): string => {
    const piece = text.slice(prefix.length);
    window = window.slice(given);
    given = window.length;
    prefix = decode(window);
    return piece;
  };

  return {
    push(ids) {
      let out = '';
      for (let i = 0; i < ids.length; i++) {
        window.push(ids[i] as number);
        const text = decode(window);
        if (text.length > prefix.length && !text.endsWith(REPLACEMENT)) out += release(text);
      }
      return out;
    },
    flush() {
      if (given === window.length) return '';
      return release(decode(window));
    },
  };
}
