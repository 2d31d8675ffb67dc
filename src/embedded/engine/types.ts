/** What the embedded models need from an engine, and nothing more. Implementations: the tiny Llama, the script. */

export interface EngineSampling {
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  /** Of topP; without effect beside topK. */
  readonly topPDecay?: number;
  readonly topPMin?: number;
  readonly topPResetId?: number;
  readonly seed?: bigint;
  readonly repetitionPenalty?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
}

/** Beam search in place of sampling. */
export interface EngineBeams {
  /** At least 2. */
  readonly width: number;
  /** Beams to tell, the best ones. */
  readonly returned: number;
  readonly lengthPenalty: number;
  readonly earlyStopping: boolean;
  readonly diversityRate: number;
}

/** A whole answer of a beam search so far. */
export interface BeamState {
  /** EOS never among them. */
  readonly ids: readonly number[];
  /** One per id. */
  readonly logProbs: readonly number[];
  /** One vocabulary-sized row per id. Empty unless asked for. */
  readonly logits: readonly Float32Array[];
  /** Of the ids, and of EOS where it ended the beam. */
  readonly cumLogProb: number;
}

export interface EngineRequest {
  /** Triton request id; '' when the client gave none. */
  readonly id: string;
  readonly promptIds: Int32Array;
  readonly maxTokens: number;
  /** -1: never stops at EOS. */
  readonly endId: number;
  readonly minTokens: number;
  readonly stopWords: readonly (readonly number[])[];
  readonly badWords: readonly (readonly number[])[];
  /** FP32, vocabulary-sized, or undefined. */
  readonly embeddingBias: Float32Array | undefined;
  readonly sampling: EngineSampling;
  readonly beams?: EngineBeams | undefined;
  readonly wantLogProbs: boolean;
  readonly wantLogits: boolean;
  /** Logits after every token of the prompt; nothing of the prompt is then taken from the cache. */
  readonly wantContextLogits?: boolean;
  readonly wantPerf?: boolean;
}

/** What one request cost; times in ns of core/clock, 0 = not yet. */
export interface EnginePerf {
  readonly arrivedNs: number;
  readonly scheduledNs: number;
  readonly firstTokenNs: number;
  /** 0 before the end (upstream llmRequest.h, updatePerfMetrics). */
  readonly lastTokenNs: number;
  /** Cache blocks held, and those of them that were found computed. */
  readonly blocks: number;
  readonly blocksReused: number;
}

export type EngineFinish = 'eos' | 'length' | 'stop-words' | 'cancelled';

/** One step's news about one request: zero or one new token as a rule; several if steps were merged. */
export interface EngineStep {
  /** New ids, EOS never among them. */
  readonly ids: readonly number[];
  /** One per id. Empty unless asked for. */
  readonly logProbs: readonly number[];
  readonly cumLogProb: number;
  /** One vocabulary-sized row per sampled step (the EOS step too). Empty unless asked for. */
  readonly logits: readonly Float32Array[];
  /**
   * Of a beam search, best first, and then `ids` is empty: whole answers, since a step may put another one in front.
   * Undefined otherwise, and where the request ended before it began.
   */
  readonly beams?: readonly BeamState[] | undefined;
  /** [prompt × vocabulary], on the first step, where asked for. */
  readonly contextLogits?: Float32Array | undefined;
  /** On every step, where asked for. */
  readonly perf?: EnginePerf | undefined;
  /** Set on the last step of the request and only there. */
  readonly finish: EngineFinish | undefined;
  /** Set instead of news when the engine refuses or fails: the text after "…due to the following error: ". */
  readonly error: string | undefined;
}

export interface EngineHandle {
  /** Frees slot and blocks at the next step border; the sink then gets a last step with finish 'cancelled'. */
  cancel(): void;
}

/** The numbers behind nv_trt_llm_*: read at any time, true at step borders. */
export interface EngineStats {
  readonly active: number;
  readonly waiting: number;
  /** Requests in prefill in the last step. */
  readonly context: number;
  /** Requests that took part in the last step. */
  readonly scheduled: number;
  readonly generation: number;
  readonly paused: number;
  readonly maxRequests: number;
  readonly contextTokens: number;
  readonly blocksMax: number;
  readonly blocksUsed: number;
  readonly blocksFree: number;
  /** Blocks served from the reuse tree since the start. */
  readonly blocksReused: number;
  readonly tokensPerBlock: number;
  readonly iteration: number;
}

export interface Engine {
  readonly vocabSize: number;
  readonly maxSeqLen: number;
  /** Queues a request. Steps arrive asynchronously, never inside this call. */
  submit(request: EngineRequest, sink: (step: EngineStep) => void): EngineHandle;
  stats(): EngineStats;
  close(): Promise<void>;
}
