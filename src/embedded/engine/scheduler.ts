import { nowNs } from '#core/clock/index.ts';
import { type Active, extrasOf, inContext, type Waiting } from './active.ts';
import { createBeamDecoder } from './beam-decoder.ts';
import { clippedMaxTokens, refusal } from './endings.ts';
import type { KvCache } from './kv-cache.ts';
import type { KvStore } from './kv-store.ts';
import { createLine, type Line } from './line.ts';
import type { ForwardRow, Llama } from './llama.ts';
import { unseededSeeds } from './sampler.ts';
import { createSampledDecoder } from './sampled-decoder.ts';
import { NO_NEWS, type Sink, tell } from './tell.ts';
import { Turns } from './turns.ts';
import type { Engine, EngineHandle, EngineRequest, EngineStats } from './types.ts';

export interface SchedulerOptions {
  readonly llama: Llama;
  readonly cache: KvCache;
  readonly store: KvStore;
  readonly vocabSize: number;
  readonly maxSeqLen: number;
  /** Slots: requests in one step at most (max_batch_size of the engine), whatever their beams. */
  readonly maxRequests: number;
  /** Lowest time from the beginning of one step to the beginning of the next; 0 = as fast as it goes. */
  readonly stepMs: number;
  readonly faults: ReadonlySet<string>;
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
    const text = this.#closed ? 'The engine is shut down' : (refusal(request, this.maxSeqLen) ?? this.#tooWide(request));
    const waiting: Waiting = { request, sink, arrivedNs: nowNs(), cancelled: false };
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
    // Fault: the step of a full batch in which a request has an end id never ends.
    const { faults, maxRequests } = this.#options;
    if (faults.has('endid-or-quote-freezes-batch') && batch.length === maxRequests && batch.some(({ request }) => request.endId >= 0)) {
      this.#stalled = true;
      return;
    }
    const contexts = batch.filter(inContext);
    const lines = batch.flatMap(({ decoder }) => decoder.lines);
    const contextTokens = contexts.reduce(
      (
        sum,
        {
          decoder: {
            lines: [line],
          },
        },
      ) => sum + line!.length - line!.computed,
      0,
    );
    this.#last = { context: contexts.length, generation: batch.length - contexts.length, contextTokens };
    await this.#compute(batch.flatMap((active) => this.#rowsOf(active, lines.length, lines.indexOf(active.decoder.lines[0]!))));
    for (const { decoder, request } of batch) {
      for (const line of decoder.lines) {
        line.computed = line.length;
        // What beams draw is copied about, so only what they have in common is kept for others.
        const kept = request.beams === undefined ? line.computed : Math.min(line.computed, request.promptIds.length);
        this.#options.cache.keep(line.kv, line.tokens, kept);
      }
    }
    for (const active of batch) if (!active.cancelled) this.#advance(active);
    this.#takeCancels();
  }

  /** What is to be computed of one request: the rest of its prompt, or the last token of each of its lines. */
  #rowsOf({ decoder, contextRows }: Active, batch: number, first: number): ForwardRow[] {
    const rows: ForwardRow[] = [];
    for (const [i, line] of decoder.lines.entries()) {
      this.#options.cache.grow(line.kv, line.length);
      for (let position = line.computed; position < line.length; position++) {
        rows.push({
          token: line.tokens[position]!,
          position,
          table: line.kv.table,
          batch,
          index: first + i,
          logits: position === line.length - 1 ? line.logits : contextRows?.[position],
        });
      }
    }
    return rows;
  }

  async #compute(rows: readonly ForwardRow[]): Promise<void> {
    const { llama } = this.#options;
    for (let at = 0; at < rows.length; at += llama.maxRows) {
      llama.forward(rows.slice(at, at + llama.maxRows));
      if (at + llama.maxRows < rows.length) await this.#turns.next();
    }
  }

  #takeCancels(): void {
    const gone = [...this.#waiting, ...this.#active].filter((sequence) => sequence.cancelled);
    if (gone.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !waiting.cancelled);
    const left = this.#active.filter((sequence) => sequence.cancelled);
    for (const sequence of left) this.#leave(sequence);
    for (const { sink, decoder } of gone as (Waiting & Partial<Active>)[]) {
      tell(sink, { ...NO_NEWS, cumLogProb: decoder?.cumLogProb ?? 0, beams: decoder?.beams, finish: 'cancelled' });
    }
  }

  #admit(): void {
    const { cache, store, maxRequests, vocabSize, faults } = this.#options;
    // Fault: one request at a time, however many slots there are.
    const slots = faults.has('serial-inflight') ? 1 : maxRequests;
    while (this.#active.length < slots) {
      const [waiting] = this.#waiting;
      if (waiting === undefined) return;
      const { request } = waiting;
      const clipped = clippedMaxTokens(request, this.maxSeqLen);
      // Fault: room for EOS is taken from the answer.
      const maxTokens = faults.has('fixed-length-not-reached') ? Math.max(1, clipped - 1) : clipped;
      const { promptIds, beams } = request;
      const reuse = request.wantContextLogits !== true;
      // Fault: a block that was kept is given to nobody else.
      if (faults.has('offload-assert-no-free-blocks') && cache.evictsFor(promptIds, maxTokens, beams?.width ?? 1)) {
        this.#waiting.shift();
        tell(waiting.sink, { ...NO_NEWS, error: "Assertion failed: Can't get free block, no GPU blocks are left" });
        continue;
      }
      const kv = cache.admit(promptIds, maxTokens, { beams: beams?.width ?? 1, reuse });
      if (kv === undefined) return;
      this.#waiting.shift();
      // Fault: a sequence that joins others samples with the seed of the first of them.
      const borrowed = faults.has('sampling-seed-ignored-under-concurrency') ? this.#active[0]?.seed : undefined;
      const seed = borrowed ?? request.sampling.seed ?? this.#nextSeed();
      const line = createLine(kv, promptIds, maxTokens, kv.reused * cache.tokensPerBlock, vocabSize);
      const decoder =
        beams === undefined
          ? createSampledDecoder(request, line, seed, faults)
          : createBeamDecoder(
              request,
              beams,
              { lines: [line, ...this.#forks(request, line)], cache, store, crowd: () => this.#active.length },
              faults,
            );
      this.#active.push(
        Object.assign(waiting, {
          seed,
          decoder,
          scheduledNs: nowNs(),
          blocksReused: kv.reused,
          contextRows: reuse ? undefined : Array.from(promptIds, () => new Float64Array(vocabSize)),
          firstTokenNs: 0,
        }),
      );
    }
  }

  #forks({ promptIds, beams }: EngineRequest, { kv, tokens, logits }: Line): Line[] {
    const { cache } = this.#options;
    return Array.from({ length: (beams?.width ?? 1) - 1 }, () =>
      createLine(cache.fork(kv, promptIds), promptIds, tokens.length - promptIds.length, 0, logits.length),
    );
  }

  /** Beams that can never find room would wait for ever, and all requests behind them. */
  #tooWide(request: EngineRequest): string | undefined {
    const { cache } = this.#options;
    const { width = 1 } = request.beams ?? {};
    const blocks = cache.blocksFor(request.promptIds, clippedMaxTokens(request, this.maxSeqLen), width);
    return blocks > cache.blocksMax ? `${width} beams need ${blocks} cache blocks, there are ${cache.blocksMax}` : undefined;
  }

  #advance(active: Active): void {
    const { decoder, sink } = active;
    const steps = decoder.advance();
    active.firstTokenNs ||= nowNs();
    const last = steps.at(-1)!.finish !== undefined;
    const extras = extrasOf(active, last);
    if (last) this.#leave(active);
    for (const step of steps) tell(sink, extras === undefined ? step : { ...step, ...extras });
  }

  /** Frees slot and blocks. */
  #leave(active: Active): void {
    const { cache, faults } = this.#options;
    const { request, decoder, cancelled } = active;
    this.#active = this.#active.filter((other) => other !== active);
    for (const { kv, tokens, computed } of decoder.held) {
      // Fault: a cancelled sequence leaves its blocks behind.
      if (cancelled && faults.has('cancel-leaks-kv-blocks-disagg')) cache.forget(kv);
      else cache.release(kv, tokens, request.beams === undefined ? computed : Math.min(computed, request.promptIds.length));
    }
  }

  #endAll(): void {
    for (const { sink, text } of this.#refused.splice(0)) tell(sink, { ...NO_NEWS, error: text });
    for (const sequence of [...this.#waiting, ...this.#active]) sequence.cancelled = true;
    this.#takeCancels();
  }
}
