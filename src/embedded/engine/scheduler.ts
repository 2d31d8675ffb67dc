import { nowNs } from '#core/clock/index.ts';
import { clippedMaxTokens, endsWithAny, refusal } from './endings.ts';
import type { KvCache, KvSequence } from './kv-cache.ts';
import type { ForwardRow, Llama } from './llama.ts';
import { createSampler, type Sampler, unseededSeeds } from './sampler.ts';
import { NO_NEWS, type Sink, tell } from './tell.ts';
import { Turns } from './turns.ts';
import type { Engine, EngineFinish, EngineHandle, EngineRequest, EngineStats } from './types.ts';

export interface SchedulerOptions {
  readonly llama: Llama;
  readonly cache: KvCache;
  readonly vocabSize: number;
  readonly maxSeqLen: number;
  /** Slots: sequences in one step at most (max_batch_size of the engine). */
  readonly maxRequests: number;
  /** Lowest time from the beginning of one step to the beginning of the next; 0 = as fast as it goes. */
  readonly stepMs: number;
  readonly faults: ReadonlySet<string>;
}

interface Waiting {
  readonly request: EngineRequest;
  readonly sink: Sink;
  cancelled: boolean;
}

interface Active extends Waiting {
  readonly seed: bigint;
  readonly sampler: Sampler;
  readonly kv: KvSequence;
  /** Prompt and answer; `length` of them are there. */
  readonly tokens: Int32Array;
  length: number;
  /** Positions whose keys and values are in the cache. */
  computed: number;
  readonly logits: Float64Array;
  /** Of the step before; used by a fault only. */
  readonly lateLogits: Float64Array;
  cumLogProb: number;
}

/**
 * In-flight batching by steps. Each step: take the cancels, admit from the queue (first come, first served) while
 * slots and blocks last, compute the whole prompt of the new sequences and one token of the others, sample, tell.
 *
 * A step is cut into calls of a few rows, with a look at the sockets in between; what a sequence computes does not
 * depend on the cuts. Sinks are called from the step loop only, never inside submit or cancel.
 */
export class StepScheduler implements Engine {
  readonly vocabSize: number;
  readonly maxSeqLen: number;
  readonly #options: SchedulerOptions;
  readonly #nextSeed = unseededSeeds();
  readonly #turns = new Turns();
  readonly #refused: { readonly sink: Sink; readonly text: string }[] = [];
  #waiting: Waiting[] = [];
  #active: Active[] = [];
  #loop: Promise<void> | undefined;
  #closed = false;
  #stalled = false;
  #iteration = 0;
  #last = { context: 0, generation: 0, contextTokens: 0 };

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.vocabSize = options.vocabSize;
    this.maxSeqLen = options.maxSeqLen;
  }

  submit(request: EngineRequest, sink: Sink): EngineHandle {
    const text = this.#closed ? 'The engine is shut down' : refusal(request, this.maxSeqLen);
    const waiting: Waiting = { request, sink, cancelled: false };
    if (text === undefined) this.#waiting.push(waiting);
    else this.#refused.push({ sink, text });
    this.#loop ??= this.#run();
    // Fault: the cancel is accepted, and the sequence goes on to its end.
    const deaf = this.#options.faults.has('engine-run-on-after-abort-python');
    return { cancel: () => void (deaf || (waiting.cancelled = true)) };
  }

  stats(): EngineStats {
    const { cache, maxRequests } = this.#options;
    const { context, generation, contextTokens } = this.#last;
    return {
      active: this.#active.length,
      waiting: this.#waiting.length,
      context,
      generation,
      scheduled: context + generation,
      paused: 0,
      maxRequests,
      contextTokens,
      blocksMax: cache.blocksMax,
      blocksUsed: cache.blocksMax - cache.blocksFree,
      blocksFree: cache.blocksFree,
      blocksReused: cache.blocksReused,
      tokensPerBlock: cache.tokensPerBlock,
      iteration: this.#iteration,
    };
  }

  /** Ends everything that runs or waits with 'cancelled', then resolves. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#turns.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    await this.#turns.next();
    let stepStartNs = -Infinity;
    while (!this.#closed && this.#refused.length + this.#waiting.length + this.#active.length > 0) {
      for (const { sink, text } of this.#refused.splice(0)) {
        tell(sink, { ...NO_NEWS, error: text });
        // Fault: after an over-long prompt the loop never takes another step.
        if (this.#options.faults.has('prompt-over-limit-hangs-engine') && text.startsWith('Prompt length')) this.#stalled = true;
      }
      if (this.#stalled) break;
      await this.#turns.waitUntil(stepStartNs + this.#options.stepMs * 1e6);
      stepStartNs = nowNs();
      await this.#step();
      await this.#turns.next();
    }
    this.#last = { context: 0, generation: 0, contextTokens: 0 };
    if (this.#stalled && !this.#closed) await this.#turns.woken();
    if (this.#closed) this.#endAll();
    this.#loop = undefined;
  }

  async #step(): Promise<void> {
    this.#takeCancels();
    this.#admit();
    if (this.#active.length === 0) return;
    this.#iteration += 1;
    const batch = this.#active.slice();
    const rows: ForwardRow[] = [];
    const contexts = batch.filter((sequence) => sequence.length === sequence.request.promptIds.length);
    let contextTokens = 0;
    batch.forEach((sequence, index) => {
      this.#options.cache.grow(sequence.kv, sequence.length);
      if (contexts.includes(sequence)) contextTokens += sequence.length - sequence.computed;
      for (let position = sequence.computed; position < sequence.length; position++) {
        rows.push({
          token: sequence.tokens[position]!,
          position,
          table: sequence.kv.table,
          batch: batch.length,
          index,
          logits: position === sequence.length - 1 ? sequence.logits : undefined,
        });
      }
    });
    this.#last = { context: contexts.length, generation: batch.length - contexts.length, contextTokens };
    const { llama } = this.#options;
    for (let at = 0; at < rows.length; at += llama.maxRows) {
      llama.forward(rows.slice(at, at + llama.maxRows));
      if (at + llama.maxRows < rows.length) await this.#turns.next();
    }
    for (const sequence of batch) {
      sequence.computed = sequence.length;
      this.#options.cache.keep(sequence.kv, sequence.tokens, sequence.computed);
    }
    for (const sequence of batch) if (!sequence.cancelled) this.#advance(sequence);
    this.#takeCancels();
  }

  #takeCancels(): void {
    const gone = [...this.#waiting, ...this.#active].filter((sequence) => sequence.cancelled);
    if (gone.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !waiting.cancelled);
    const left = this.#active.filter((sequence) => sequence.cancelled);
    for (const sequence of left) this.#leave(sequence);
    for (const { sink, cumLogProb } of gone as (Waiting & Partial<Active>)[]) {
      tell(sink, { ...NO_NEWS, cumLogProb: cumLogProb ?? 0, finish: 'cancelled' });
    }
  }

  #admit(): void {
    const { cache, maxRequests, vocabSize, faults } = this.#options;
    while (this.#active.length < maxRequests) {
      const [waiting] = this.#waiting;
      if (waiting === undefined) return;
      const { request } = waiting;
      const clipped = clippedMaxTokens(request, this.maxSeqLen);
      // Fault: room for EOS is taken from the answer.
      const maxTokens = faults.has('fixed-length-not-reached') ? Math.max(1, clipped - 1) : clipped;
      const kv = cache.admit(request.promptIds, maxTokens);
      if (kv === undefined) return;
      this.#waiting.shift();
      // Fault: a sequence that joins others samples with the seed of the first of them.
      const borrowed = faults.has('sampling-seed-ignored-under-concurrency') ? this.#active[0]?.seed : undefined;
      const seed = borrowed ?? request.sampling.seed ?? this.#nextSeed();
      const tokens = new Int32Array(request.promptIds.length + maxTokens);
      tokens.set(request.promptIds);
      this.#active.push(
        Object.assign(waiting, {
          seed,
          sampler: createSampler(request, seed, vocabSize, faults),
          kv,
          tokens,
          length: request.promptIds.length,
          computed: kv.reused * cache.tokensPerBlock,
          logits: new Float64Array(vocabSize),
          lateLogits: new Float64Array(vocabSize),
          cumLogProb: 0,
        }),
      );
    }
  }

  /** Samples one id and tells the sink what that means. */
  #advance(sequence: Active): void {
    const { request, logits, tokens, sink, sampler } = sequence;
    const { faults } = this.#options;
    const id = sampler.next(logits, tokens, sequence.length);
    const generated = sequence.length - request.promptIds.length;
    const rows = request.wantLogits ? [new Float32Array(faults.has('first-token-logits-in-context') ? sequence.lateLogits : logits)] : [];
    // Fault: what is gathered comes one row late.
    if (rows.length > 0) sequence.lateLogits.set(logits);
    if (generated === 0 && faults.has('first-event-empty-text')) tell(sink, NO_NEWS);
    if (id === request.endId && !faults.has('never-stops-at-eos')) {
      // Fault: the last id is told once more.
      const again = faults.has('stream-repeats-last-token-with-endid') && generated > 0 ? [tokens[sequence.length - 1]!] : [];
      const logProbs = request.wantLogProbs ? again.map((last) => sampler.logProbability(last)) : [];
      this.#leave(sequence);
      tell(sink, { ...NO_NEWS, ids: again, logProbs, cumLogProb: sequence.cumLogProb, logits: rows, finish: 'eos' });
      return;
    }
    tokens[sequence.length++] = id;
    const logProb = request.wantLogProbs && !faults.has('logprobs-all-zero-flag') ? sampler.logProbability(id) : 0;
    sequence.cumLogProb += logProb;
    const finish = this.#finishAfter(sequence);
    if (finish !== undefined) this.#leave(sequence);
    tell(sink, {
      ids: [id],
      logProbs: request.wantLogProbs ? [logProb] : [],
      cumLogProb: sequence.cumLogProb,
      logits: rows,
      finish,
      error: undefined,
    });
  }

  #finishAfter({ request, tokens, length }: Active): EngineFinish | undefined {
    const { stopWords } = request;
    if (stopWords.length > 0 && !this.#options.faults.has('stop-words-ignored') && endsWithAny(stopWords, tokens, length)) {
      return 'stop-words';
    }
    return length === tokens.length ? 'length' : undefined;
  }

  /** Frees slot and blocks. */
  #leave(sequence: Active): void {
    const { cache, faults } = this.#options;
    this.#active = this.#active.filter((other) => other !== sequence);
    // Fault: a cancelled sequence leaves its blocks behind.
    if (sequence.cancelled && faults.has('cancel-leaks-kv-blocks-disagg')) cache.forget(sequence.kv);
    else cache.release(sequence.kv, sequence.tokens, sequence.computed);
  }

  #endAll(): void {
    for (const { sink, text } of this.#refused.splice(0)) tell(sink, { ...NO_NEWS, error: text });
    for (const sequence of [...this.#waiting, ...this.#active]) sequence.cancelled = true;
    this.#takeCancels();
  }
}
