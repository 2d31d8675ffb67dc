/**
 * The text check for stop words of a BLS since TensorRT-LLM 0.19, beside the engine's own check of ids (upstream
 * `triton_backend/all_models/inflight_batcher_llm/tensorrt_llm_bls/1/model.py`; docs/observed.md#bls).
 *
 * Faithful, so it fails where upstream does: all words of a row share one prefix, so that a word which does not go on
 * forgets what another had matched; a match begins and ends on a border of chunks; and a text that is cumulative is
 * compared as a whole.
 */
export class BlsStopWords {
  readonly #words: readonly (readonly string[])[];
  readonly #prefixes = new Map<number, string>();

  /** The words of each batch row; none when the request has no stop_words. */
  constructor(words: readonly (readonly string[])[]) {
    this.#words = words.map((row) => row.filter((word) => word !== ''));
  }

  /** Whether the stream of this batch row is over with the chunk `text`. The text itself is never cut. */
  endsStream(row: number, text: string): boolean {
    let prefix = this.#prefixes.get(row) ?? '';
    for (const word of this.#words[row] ?? []) {
      if (!word.startsWith(prefix + text)) {
        prefix = '';
        continue;
      }
      prefix += text;
      if (word === prefix) return true;
    }
    this.#prefixes.set(row, prefix);
    return false;
  }

  /**
   * An answer that comes whole, cut behind the first word of the list that it has; undefined when it has none. The
   * search begins after as many characters as the prompt has, where the prompt is part of the text.
   */
  cutWhole(row: number, text: string, promptCharacters: number): string | undefined {
    const characters = Array.from(text);
    const prompt = characters.slice(0, promptCharacters).join('');
    const answer = characters.slice(promptCharacters).join('');
    const hit = (this.#words[row] ?? []).find((word) => answer.includes(word));
    return hit === undefined ? undefined : prompt + answer.slice(0, answer.indexOf(hit) + hit.length);
  }
}
