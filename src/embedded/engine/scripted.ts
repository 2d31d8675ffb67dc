import { nowNs } from '#core/clock/index.ts';
import { clippedMaxTokens, endsWithAny, refusal } from './endings.ts';
import { NO_NEWS, type Sink, tell } from './tell.ts';
import { Turns } from './turns.ts';
import type { BeamState, Engine, EngineFinish, EngineHandle, EngineRequest, EngineStats } from './types.ts';

/** What a scripted request is to answer. */
export interface Script {
  /** The answer up to EOS; begun again from the front when the request may not end there (no end_id, min_tokens). */
  readonly ids: ArrayLike<number>;
  /** Lowest wait between step i - 1 (or the admission) and step i in milliseconds, the EOS step included; missing entries are 0. */
  readonly delaysMs?: readonly number[];
  /** Log-probability of id i; missing entries are -0.5. */
  readonly logProbs?: readonly number[];
  /** Refuse with this text. */
  readonly error?: string;
}

export interface ScriptedOptions {
  /** Default: hashScript. */
  readonly script?: (request: EngineRequest) => Script;
  /** Default 512. */
  readonly vocabSize?: number;
  /** Default 512. */
  readonly maxSeqLen?: number;
  /** Default 64. */
  readonly maxRequests?: number;
  /** Lowest time of one step in milliseconds. Default 0. */
  readonly stepMs?: number;
}

interface Play {
  readonly request: EngineRequest;
  readonly sink: Sink;
  readonly script: Script;
  readonly maxTokens: number;
  /** Prompt and answer, kept only where stop words need it. */
  readonly tokens: Int32Array | undefined;
  /** The answer so far, kept only where it is told as beams. */
  readonly answer: { readonly ids: number[]; readonly logProbs: number[] } | undefined;
  generated: number;
  cumLogProb: number;
  dueNs: number;
  cancelled: boolean;
}

/** Work between two looks at the sockets. */
const TURN_NS = 1e6;
/** Longer answers begin again. */
const HASH_IDS = 4096;
/** ids ≥ 6: the tiny checkpoint's specials are 0–5 (docker/checkpoint/tiny/tokenizer.json). */
const FIRST_ID = 6;
const NONE: readonly never[] = [];

/**
 * An answer that follows from the prompt alone: ids from an FNV-1a hash of the prompt, as many as the request asks
 * for, so it always ends by length.
 */
export function hashScript(vocabSize: number): (request: EngineRequest) => Script {
  return ({ promptIds, maxTokens }) => {
    let hash = 0x811c9dc5;
    for (const id of promptIds) hash = Math.imul(hash ^ id, 0x01000193) >>> 0;
    const ids = new Int32Array(Math.max(0, Math.min(maxTokens, HASH_IDS)));
    for (let i = 0; i < ids.length; i++) {
      hash = Math.imul(hash ^ i, 0x01000193) >>> 0;
      ids[i] = FIRST_ID + ((hash >>> 8) % (vocabSize - FIRST_ID));
    }
    return { ids };
  };
}

/**
 * An engine that answers from a script: for tests that need exact events, and for load tests, where it must not be
 * the bottleneck. Endings, limits, cancels and step-by-step delivery are as in the real engine; sampling parameters,
 * bad words and bias have no effect, all beams of a request are the same answer, there are no logits, no measurements, and
 * no cache (its block numbers are zero).
 */
export function createScriptedEngine(options: ScriptedOptions = {}): Engine {
  return new ScriptedEngine(options);
}

class ScriptedEngine implements Engine {
  readonly vocabSize: number;
  readonly maxSeqLen: number;
  readonly #script: (request: EngineRequest) => Script;
  readonly #maxRequests: number;
  readonly #stepMs: number;
  readonly #turns = new Turns();
  readonly #refused: { readonly sink: Sink; readonly text: string }[] = [];
  readonly #waiting: Play[] = [];
  #active: Play[] = [];
  #loop: Promise<void> | undefined;
  #closed = false;
  #iteration = 0;
  #scheduled = 0;

  constructor({ script, vocabSize = 512, maxSeqLen = 512, maxRequests = 64, stepMs = 0 }: ScriptedOptions) {
    this.vocabSize = vocabSize;
    this.maxSeqLen = maxSeqLen;
    this.#script = script ?? hashScript(vocabSize);
    this.#maxRequests = maxRequests;
    this.#stepMs = stepMs;
  }

  submit(request: EngineRequest, sink: Sink): EngineHandle {
    const script = this.#script(request);
    const text = this.#closed ? 'The engine is shut down' : (script.error ?? refusal(request, this.maxSeqLen));
    const maxTokens = clippedMaxTokens(request, this.maxSeqLen);
    const tokens = request.stopWords.length > 0 && text === undefined ? new Int32Array(request.promptIds.length + maxTokens) : undefined;
    tokens?.set(request.promptIds);
    const answer = request.beams === undefined ? undefined : { ids: [], logProbs: [] };
    const play: Play = { request, sink, script, maxTokens, tokens, answer, generated: 0, cumLogProb: 0, dueNs: 0, cancelled: false };
    if (text === undefined) this.#waiting.push(play);
    else this.#refused.push({ sink, text });
    this.#loop ??= this.#run();
    return { cancel: () => void (play.cancelled = true) };
  }

  stats(): EngineStats {
    return {
      active: this.#active.length,
      waiting: this.#waiting.length,
      context: 0,
      scheduled: this.#scheduled,
      generation: this.#scheduled,
      paused: 0,
      maxRequests: this.#maxRequests,
      contextTokens: 0,
      blocksMax: 0,
      blocksUsed: 0,
      blocksFree: 0,
      blocksReused: 0,
      tokensPerBlock: 16,
      iteration: this.#iteration,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#turns.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    await this.#turns.next();
    while (!this.#closed && this.#refused.length + this.#waiting.length + this.#active.length > 0) {
      const startNs = nowNs();
      do this.#step();
      while (!this.#closed && this.#stepMs === 0 && this.#scheduled > 0 && nowNs() - startNs < TURN_NS);
      await (this.#stepMs > 0 ? this.#turns.waitUntil(startNs + this.#stepMs * 1e6) : this.#rest());
    }
    this.#scheduled = 0;
    if (this.#closed) {
      for (const play of [...this.#waiting, ...this.#active]) play.cancelled = true;
      this.#step();
    }
    this.#loop = undefined;
  }

  /** One turn while something is due, otherwise at most a millisecond's sleep: a cancel may come at any time. */
  #rest(): Promise<void> {
    return this.#scheduled > 0 || this.#active.length === 0 ? this.#turns.next() : this.#turns.waitUntil(nowNs() + 1e6);
  }

  #step(): void {
    for (const { sink, text } of this.#refused.splice(0)) tell(sink, { ...NO_NEWS, error: text });
    for (let i = this.#waiting.length - 1; i >= 0; i--) if (this.#waiting[i]!.cancelled) cancelled(this.#waiting.splice(i, 1)[0]!);
    while (this.#active.length < this.#maxRequests && this.#waiting.length > 0) {
      const play = this.#waiting.shift()!;
      play.dueNs = nowNs() + (play.script.delaysMs?.[0] ?? 0) * 1e6;
      this.#active.push(play);
    }
    this.#iteration += 1;
    this.#scheduled = 0;
    const now = nowNs();
    const batch = this.#active;
    let kept = 0;
    for (let i = 0; i < batch.length; i++) {
      const play = batch[i]!;
      let alive = true;
      if (play.cancelled) {
        cancelled(play);
        alive = false;
      } else if (play.dueNs <= now) {
        this.#scheduled += 1;
        alive = advance(play, now) === undefined;
      }
      if (alive) batch[kept++] = play;
    }
    batch.length = kept;
  }
}

function cancelled(play: Play): void {
  tell(play.sink, { ...NO_NEWS, cumLogProb: play.cumLogProb, beams: beamsOf(play), finish: 'cancelled' });
}

function beamsOf({ request, answer, cumLogProb }: Play): BeamState[] | undefined {
  if (answer === undefined) return undefined;
  const beam: BeamState = { ids: answer.ids.slice(), logProbs: answer.logProbs.slice(), logits: NONE, cumLogProb };
  return Array.from({ length: request.beams?.returned ?? 0 }, () => beam);
}

function advance(play: Play, now: number): EngineFinish | undefined {
  const { request, script, generated } = play;
  const length = script.ids.length;
  if (generated >= length && request.endId >= 0 && generated >= request.minTokens) {
    tell(play.sink, { ...NO_NEWS, cumLogProb: play.cumLogProb, beams: beamsOf(play), finish: 'eos' });
    return 'eos';
  }
  const id = length === 0 ? FIRST_ID : script.ids[generated % length]!;
  play.generated += 1;
  let finish: EngineFinish | undefined = play.generated === play.maxTokens ? 'length' : undefined;
  if (play.tokens !== undefined) {
    const end = request.promptIds.length + play.generated;
    play.tokens[end - 1] = id;
    if (endsWithAny(request.stopWords, play.tokens, end)) finish = 'stop-words';
  }
  let logProbs: readonly number[] = NONE;
  if (request.wantLogProbs) {
    const logProb = script.logProbs?.[generated] ?? -0.5;
    play.cumLogProb += logProb;
    logProbs = [logProb];
  }
  if (script.delaysMs !== undefined) play.dueNs = now + (script.delaysMs[play.generated] ?? 0) * 1e6;
  if (play.answer !== undefined) {
    play.answer.ids.push(id);
    play.answer.logProbs.push(...logProbs);
    tell(play.sink, { ...NO_NEWS, cumLogProb: play.cumLogProb, beams: beamsOf(play), finish });
    return finish;
  }
  tell(play.sink, { ids: [id], logProbs, cumLogProb: play.cumLogProb, logits: NONE, finish, error: undefined });
  return finish;
}
