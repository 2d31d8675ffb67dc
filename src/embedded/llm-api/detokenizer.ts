/**
 * Text of a stream's ids as they come. Source: tensorrt_llm/llmapi/tokenizer.py (hf_decode_incrementally,
 * trtllm_decode_incrementally); docs/observed.md#trtllm-serve.
 */
import type { Tokenizer } from '#wire/tokenizer/index.ts';

export interface Detokenizer {
  /** New text; '' while nothing is certain. `last`: no more ids come. */
  push(ids: readonly number[], last: boolean): string;
}

export interface DetokenizerOptions {
  readonly skipSpecialTokens: boolean;
  /** False: bytes that the end cut off are dropped. */
  readonly showsCutCharacter: boolean;
  /** Fault `stream-trailing-fffd-trtllm`. */
  readonly decodesAlone: boolean;
}

/** The default: Hugging Face's DecodeStream, one per request, which is never told of an end. */
export function decodeStream(
  tokenizer: Tokenizer,
  { decodesAlone, skipSpecialTokens, showsCutCharacter }: DetokenizerOptions,
): Detokenizer {
  // Fault stream-trailing-fffd-trtllm: nothing is carried from one response to the next.
  if (decodesAlone) return { push: (ids) => tokenizer.decode(ids, { skipSpecialTokens }) };
  const decoder = tokenizer.stream({ skipSpecialTokens, eager: !showsCutCharacter });
  return { push: (ids, last) => decoder.push(ids) + (last && showsCutCharacter ? decoder.flush() : '') };
}

const CUT = '\ufffd';

/** The other way, for long stream intervals and without spaces between special tokens: blank and cut text waits, and the end shows it. */
export function heldBackStream(tokenizer: Tokenizer, { skipSpecialTokens }: DetokenizerOptions): Detokenizer {
  let pending: number[] = [];
  return {
    push(ids, last) {
      pending.push(...ids);
      const text = tokenizer.decode(pending, { skipSpecialTokens });
      if (!last && (text.endsWith(CUT) || text.trim() === '')) return '';
      pending = [];
      return text;
    },
  };
}
