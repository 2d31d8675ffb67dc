import type { StreamDecoder } from './types.ts';

/** In this order, each over the whole text: what one leaves another may find. */
const RULES: readonly (readonly [string, string])[] = [
  ...['.', '?', '!', ','].map((mark) => [` ${mark}`, mark] as const),
  [" ' ", "'"],
  ...["n't", "'m", "'s", "'ve", "'re"].map((end) => [` ${end}`, end] as const),
];

/**
 * The text as transformers shows it where tokenizer_config.json says `clean_up_tokenization_spaces`: without the space in
 * front of a mark or of a short form of English (huggingface/transformers, `clean_up_tokenization` of
 * src/transformers/tokenization_utils_base.py). The Rust library knows nothing of it.
 */
export function tidied(text: string): string {
  return RULES.reduce((rest, [from, to]) => rest.replaceAll(from, to), text);
}

/** From the first space on behind which only characters follow that a rule may go on behind: undecided. */
const UNDECIDED = / [ 'nvr]*$/;

/** A stream whose joined pieces are the whole text tidied: what more text may still change waits for it. */
export function tidiedStream(inner: StreamDecoder): StreamDecoder {
  let waiting = '';
  return {
    push(ids) {
      waiting += inner.push(ids);
      const end = UNDECIDED.exec(waiting)?.index ?? waiting.length;
      const decided = waiting.slice(0, end);
      waiting = waiting.slice(end);
      return tidied(decided);
    },
    flush() {
      const rest = waiting + inner.flush();
      waiting = '';
      return tidied(rest);
    },
  };
}

/** A stream whose every piece is tidied by itself, as the LLM API does it (tensorrt_llm/llmapi/tokenizer.py, hf_decode_incrementally). */
export function tidiedPieces(inner: StreamDecoder): StreamDecoder {
  return { push: (ids) => tidied(inner.push(ids)), flush: () => tidied(inner.flush()) };
}
