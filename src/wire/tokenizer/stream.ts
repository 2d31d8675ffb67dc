import type { TokenDecoder } from './decode.ts';
import type { StreamDecoder } from './types.ts';

const REPLACEMENT = '\uFFFD';

/**
 * Streaming detokenization: decodes a growing window and gives its text once that cannot change any more.
 *
 * The window keeps the tokens of the last certain text in front of the new ones, because decoders may treat the first
 * token of a list differently (SentencePiece drops its leading space). The window method is the one of Hugging Face's
 * `DecodeStream` (tokenizers, `tokenizer/mod.rs`); joined pieces equal the decode of the whole list. Two things are held
 * back: a text that ends in U+FFFD, since half a character looks the same, and a run of byte tokens until it ends, since
 * one broken byte turns the whole run into U+FFFD.
 *
 * `eager` is `DecodeStream` itself: the characters of a run come as soon as they are whole. When the run breaks after all, what
 * was given stays, and nothing comes any more (there `DecodeStream` raises "Invalid prefix encountered" at every step).
 */
export function streamDecoder(decoder: TokenDecoder, isShown: (token: string) => boolean, eager: boolean): StreamDecoder {
  let window: string[] = [];
  /** How many tokens at the start of the window are already given out. */
  let given = 0;
  let prefix = '';

  const release = (text: string): string => {
    const piece = text.slice(prefix.length);
    window = window.slice(given);
    given = window.length;
    prefix = decoder.decode(window);
    return piece;
  };

  return {
    push(ids) {
      let out = '';
      for (let i = 0; i < ids.length; i++) {
        const token = decoder.tokenOf(ids[i] as number);
        if (token === undefined || !isShown(token)) continue;
        window.push(token);
        if (!eager && decoder.isOpen(token)) continue;
        const text = decoder.decode(window);
        if (text.length > prefix.length && !text.endsWith(REPLACEMENT) && text.startsWith(prefix)) out += release(text);
      }
      return out;
    },
    flush() {
      if (given === window.length) return '';
      return release(decoder.decode(window));
    },
  };
}
