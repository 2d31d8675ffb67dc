import type { TorchPath } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { EngineFinish } from '../engine/types.ts';
import { decodeStream, type Detokenizer, heldBackStream } from './detokenizer.ts';
import type { TokenLogProbs } from './token-log-probs.ts';

/** What ends an answer, by the name that stop_reason gives it. */
export interface Stop {
  readonly reason: string | number;
  readonly ids: readonly number[];
}

/** Each string encoded alone, without special tokens, as the sampler compares it. */
export function stopStrings(texts: readonly string[], tokenizer: Tokenizer): Stop[] {
  return texts.map((reason) => ({ reason, ids: tokenizer.encode(reason, { addSpecialTokens: false }) }));
}

/** The part of the sampling parameters that decides what is shown of an answer. */
export interface OutputParams {
  readonly stops: readonly Stop[];
  readonly includeStop: boolean;
  readonly detokenize: boolean;
  readonly skipSpecialTokens: boolean;
  readonly spacesBetweenSpecialTokens: boolean;
}

/** What a request gets that says nothing about any of it. */
export const OUTPUT_DEFAULTS: OutputParams = {
  stops: [],
  includeStop: false,
  detokenize: true,
  skipSpecialTokens: true,
  spacesBetweenSpecialTokens: true,
};

export interface LlmOutputOptions {
  readonly tokenizer: Tokenizer;
  readonly torch: TorchPath;
  readonly faults: ReadonlySet<string>;
  readonly params: OutputParams;
  /** Put in front of the ids where nobody excluded the prompt; only whole answers have it. */
  readonly promptIds?: Iterable<number>;
  readonly streaming: boolean;
  readonly streamInterval: number;
}

/** From this stream interval on the other way of detokenising is taken (TLLM_STREAM_INTERVAL_THRESHOLD). */
const LONG_INTERVAL = 24;

/** What one response of the engine brings. */
export interface Arrival {
  readonly ids: readonly number[];
  readonly logProbs: readonly TokenLogProbs[];
  readonly finish: EngineFinish | undefined;
}

/**
 * One answer of the LLM API as it grows: ids, text, why it ended, and what of it is new with the last response.
 *
 * The sampler knows stop strings by their ids, this class by their text; only the first way takes ids back. Text that
 * a stream has shown cannot be taken back, so a stop string of several tokens leaks.
 * Source: tensorrt_llm/executor/result.py; docs/observed.md#trtllm-serve.
 */
export class LlmOutput {
  readonly #options: LlmOutputOptions;
  readonly #detokenizer: Detokenizer;
  #ids: number[] = [];
  #logProbs: TokenLogProbs[] = [];
  #idsBefore = 0;
  #logProbsBefore = 0;
  #textBefore = '';
  /** All that a stream's ids said, where less is shown. */
  #decoded = '';
  text = '';
  finishReason: 'stop' | 'length' | 'cancelled' | null = null;
  stopReason: string | number | null = null;
  done = false;

  constructor(options: LlmOutputOptions) {
    const { faults, params, promptIds = [], streamInterval, tokenizer, torch } = options;
    this.#options = options;
    this.#ids = [...promptIds];
    const heldBack = streamInterval >= LONG_INTERVAL || !params.spacesBetweenSpecialTokens;
    this.#detokenizer = (heldBack ? heldBackStream : decodeStream)(tokenizer, {
      skipSpecialTokens: params.skipSpecialTokens,
      showsCutCharacter: torch.streamShowsCutCharacter.value,
      decodesAlone: faults.has('stream-trailing-fffd-trtllm'),
    });
  }

  get ids(): readonly number[] {
    return this.#ids;
  }

  get idsDiff(): readonly number[] {
    return this.#ids.slice(this.#idsBefore);
  }

  get logProbs(): readonly TokenLogProbs[] {
    return this.#logProbs;
  }

  get logProbsDiff(): readonly TokenLogProbs[] {
    return this.#logProbs.slice(this.#logProbsBefore);
  }

  /** What was not shown before; '' where a cut made the text shorter. */
  get textDiff(): string {
    return this.text.slice(this.#textBefore.length);
  }

  /** Gives whether a stop string was found in the text, so that the engine is to be told. */
  take({ ids, logProbs, finish }: Arrival): boolean {
    const { params, streaming, torch } = this.#options;
    this.#idsBefore = this.#ids.length;
    this.#logProbsBefore = this.#logProbs.length;
    this.#textBefore = this.text;
    this.#ids.push(...ids);
    this.#logProbs.push(...logProbs);
    if (finish !== undefined) this.#end(finish);
    if (!params.detokenize) return false;
    this.text = streaming ? this.#streamed() : this.#whole();
    const found = this.finishReason !== 'cancelled' && this.#cutAtStop();
    if (streaming && torch.streamHoldsBackStopStrings.value && !this.done) this.text = this.#certain(this.text);
    return found;
  }

  #end(finish: EngineFinish): void {
    const { params } = this.#options;
    this.done = true;
    this.finishReason = finish === 'cancelled' ? 'cancelled' : finish === 'length' ? 'length' : 'stop';
    if (finish !== 'stop-words') return;
    // A phrase that began in the prompt is not found here, and so has no name.
    const met = params.stops.find(
      ({ ids }) => ids.length > 0 && ids.length <= this.#ids.length && this.#ids.slice(-ids.length).join() === ids.join(),
    );
    if (met === undefined) return;
    this.stopReason = met.reason;
    if (!params.includeStop) this.#ids = this.#ids.slice(0, -met.ids.length);
  }

  #streamed(): string {
    // Ids that were taken back leave nothing new, and their text stays.
    this.#decoded += this.#detokenizer.push(this.idsDiff, this.done);
    return this.done && this.#options.torch.streamHoldsBackStopStrings.value ? this.#whole() : this.#decoded;
  }

  #whole(): string {
    return this.#textOf(this.#ids);
  }

  #textOf(ids: readonly number[]): string {
    return this.#options.tokenizer.decode(ids, { skipSpecialTokens: this.#options.params.skipSpecialTokens });
  }

  /** The first string of the list that occurs cuts the text, whatever ended the ids. */
  #cutAtStop(): boolean {
    const { params } = this.#options;
    for (const { reason } of params.stops) {
      if (typeof reason !== 'string') continue;
      const at = this.text.indexOf(reason);
      if (at < 0) continue;
      this.text = this.text.slice(0, at + (params.includeStop ? reason.length : 0));
      this.finishReason = 'stop';
      this.stopReason = reason;
      this.done = true;
      return true;
    }
    return false;
  }

  /**
   * What a server shows that holds stop strings back: the part of the text that stays whichever of them comes, found by
   * its text, or by its ids, which are taken away before the text is made and may have a space in front of it.
   */
  #certain(text: string): string {
    let shown = this.#withoutBegunText(text);
    for (const { ids } of this.#options.params.stops) {
      for (let n = 1; n < ids.length; n++) {
        if (this.#ids.slice(-n).join() === ids.slice(0, n).join()) shown = sharedStart(shown, this.#textOf(this.#ids.slice(0, -n)));
      }
    }
    return shown;
  }

  /** Without the longest end that a stop string may begin with. */
  #withoutBegunText(text: string): string {
    const texts = this.#options.params.stops.flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []));
    const longest = Math.max(0, ...texts.map((stop) => stop.length - 1));
    for (let from = Math.max(0, text.length - longest); from < text.length; from++) {
      if (texts.some((stop) => stop.startsWith(text.slice(from)))) return text.slice(0, from);
    }
    return text;
  }
}

function sharedStart(a: string, b: string): string {
  let n = 0;
  while (n < a.length && a[n] === b[n]) n++;
  return a.slice(0, n);
}
