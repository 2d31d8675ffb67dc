import type { TorchPath } from '#core/profile/index.ts';
import type { StreamDecoder, Tokenizer } from '#wire/tokenizer/index.ts';
import type { EngineFinish, EngineStep } from '../engine/types.ts';

/** A string that ends an answer, and the ids it has when it is encoded alone. */
export interface StopString {
  readonly text: string;
  readonly ids: readonly number[];
}

export interface LlmOutputOptions {
  readonly tokenizer: Tokenizer;
  readonly torch: TorchPath;
  readonly streaming: boolean;
  /** Put in front of the answer's ids where nobody excluded the prompt; only whole answers have it. */
  readonly promptIds: Int32Array | undefined;
  readonly maxTokens: number;
  readonly stop: readonly StopString[];
}

/** Each string encoded without special tokens, as the sampler compares it. */
export function stopStrings(texts: readonly string[], tokenizer: Tokenizer): StopString[] {
  return texts.map((text) => ({ text, ids: tokenizer.encode(text, { addSpecialTokens: false }) }));
}

/**
 * One answer of the LLM API as it grows: what the engine tells becomes ids, text, a reason (upstream
 * `tensorrt_llm/executor/result.py`; docs/observed.md#torch-path).
 *
 * The sampler knows stop strings by their ids, this class by their text; only the first way takes ids back. Streamed
 * text cannot be taken back by those who send what is new, so a stop string of several tokens leaks.
 */
export class LlmOutput {
  readonly #options: LlmOutputOptions;
  readonly #decoder: StreamDecoder;
  readonly #ids: number[];
  /** Ids of a stream that are text already. */
  #decoded = 0;
  #decodedText = '';
  #generated = 0;
  text = '';
  finishReason: 'stop' | 'length' | 'cancelled' | undefined;
  stopReason: string | undefined;
  done = false;
  /** A stop string was found in the text, so the engine is to be told; it may have come to its end by itself. */
  aborted = false;

  constructor(options: LlmOutputOptions) {
    this.#options = options;
    this.#decoder = options.tokenizer.stream();
    this.#ids = Array.from(options.promptIds ?? []);
  }

  /** Prompt included where it was asked for, EOS where this release's sampler keeps it. */
  get tokenIds(): readonly number[] {
    return this.#ids;
  }

  take(step: EngineStep): void {
    const { torch, tokenizer, streaming, maxTokens } = this.#options;
    this.#ids.push(...step.ids);
    this.#generated += step.ids.length;
    if (step.finish === 'eos' && torch.eosInIds.value && tokenizer.eosId !== undefined) this.#ids.push(tokenizer.eosId);
    // The samplers look for the length before they look for stop words.
    const finish = step.finish === 'stop-words' && this.#generated >= maxTokens ? 'length' : step.finish;
    if (finish !== undefined) this.#end(finish);
    if (!streaming && !this.done) return;
    this.text = streaming ? this.#streamed() : this.#decode(this.#ids);
    if (this.finishReason !== 'cancelled') this.#findStopText();
    if (streaming && torch.streamHoldsBackStopStrings.value && !this.done) this.text = this.#certain(this.text);
  }

  #end(finish: EngineFinish): void {
    this.done = true;
    this.finishReason = finish === 'cancelled' ? 'cancelled' : finish === 'length' ? 'length' : 'stop';
    if (finish !== 'stop-words') return;
    // A phrase that began in the prompt is not found here, and so has no name.
    const met = this.#options.stop.find(
      ({ ids }) => ids.length > 0 && ids.length <= this.#ids.length && ids.every((id, k) => this.#ids.at(k - ids.length) === id),
    );
    if (met === undefined) return;
    this.stopReason = met.text;
    this.#ids.length -= met.ids.length;
  }

  #streamed(): string {
    const { torch } = this.#options;
    if (torch.streamHoldsBackStopStrings.value && this.done) return this.#decode(this.#ids);
    // Ids that were taken back leave nothing new, and their text stays.
    this.#decodedText += this.#decoder.push(this.#shown(this.#ids.slice(this.#decoded)));
    this.#decoded = this.#ids.length;
    return this.done && torch.streamShowsCutCharacter.value ? this.#decodedText + this.#decoder.flush() : this.#decodedText;
  }

  #findStopText(): void {
    for (const { text } of this.#options.stop) {
      const at = this.text.indexOf(text);
      if (at < 0) continue;
      this.text = this.text.slice(0, at);
      this.finishReason = 'stop';
      this.stopReason = text;
      this.done = true;
      this.aborted = true;
      return;
    }
  }

  /** Without the longest end that a stop string may begin with: what a release shows that holds it back. */
  #certain(text: string): string {
    for (
      let from = Math.max(0, text.length - Math.max(0, ...this.#options.stop.map((s) => s.text.length - 1)));
      from < text.length;
      from++
    ) {
      if (this.#options.stop.some((s) => s.text.startsWith(text.slice(from)))) return text.slice(0, from);
    }
    return text;
  }

  #decode(ids: readonly number[]): string {
    return this.#options.tokenizer.decode(ids, { skipSpecialTokens: true });
  }

  #shown(ids: readonly number[]): number[] {
    return ids.filter((id) => !this.#options.tokenizer.specialIds.has(id));
  }
}
