import type { EmbeddedOptions } from '../options.ts';
import { readCheckpoint } from './checkpoint.ts';
import { KvCache } from './kv-cache.ts';
import { createKvStore, roundBlock } from './kv-store.ts';
import { createLlama } from './llama.ts';
import { StepScheduler } from './scheduler.ts';
import { createScriptedEngine, type ScriptedOptions } from './scripted.ts';
import type { Engine } from './types.ts';

export type {
  BeamState,
  Engine,
  EngineBeams,
  EngineFinish,
  EngineHandle,
  EnginePerf,
  EngineRequest,
  EngineSampling,
  EngineStats,
  EngineStep,
} from './types.ts';
export { createScriptedEngine, type Script, type ScriptedOptions } from './scripted.ts';

export interface LlamaEngineOptions {
  /** Hugging Face folder. */
  readonly checkpoint: string;
  /** Default 'invariant'; the fault `batch-size-changes-greedy-logits` is the same as 'batch'. */
  readonly reduction?: 'invariant' | 'batch';
  /** Lowest time of one step in milliseconds. Default 0. */
  readonly stepMs?: number;
  /** Sequences in one step at most. Default 4. */
  readonly maxRequests?: number;
  /** Prompt and answer together. Default 512, never more than the checkpoint's positions or the cache's tokens. */
  readonly maxSeqLen?: number;
  /** Default 256. */
  readonly blocks?: number;
  /** Default 16. */
  readonly tokensPerBlock?: number;
  /** enable_kv_cache_reuse. Default true, as TensorRT-LLM from v0.19 on. */
  readonly reuse?: boolean;
  /** Ids of ENGINE_FAULTS that are on. Default none. */
  readonly faults?: ReadonlySet<string>;
}

/** An engine that runs a checkpoint. Errors: those of readCheckpoint. */
export function createLlamaEngine(options: LlamaEngineOptions): Engine {
  const { stepMs = 0, maxRequests = 4, blocks = 256, tokensPerBlock = 16, reuse = true, faults = new Set<string>() } = options;
  const checkpoint = readCheckpoint(options.checkpoint);
  const { vocab, maxPositions } = checkpoint.config;
  const maxSeqLen = Math.min(options.maxSeqLen ?? 512, maxPositions, blocks * tokensPerBlock);
  const store = createKvStore(checkpoint.config, blocks, tokensPerBlock);
  const reduction = faults.has('batch-size-changes-greedy-logits') ? 'batch' : (options.reduction ?? 'invariant');
  const llama = createLlama({ checkpoint, store, reduction, faults });
  const cache = new KvCache({ blocks, tokensPerBlock, reuse, faults, roundBlock: (block) => roundBlock(store, block) });
  return new StepScheduler({ llama, cache, store, vocabSize: vocab, maxSeqLen, maxRequests, stepMs, faults });
}

/** Limits that a model's configuration may set; everything else of an engine follows from EmbeddedOptions. */
export type EngineLimits = Pick<LlamaEngineOptions, 'maxRequests' | 'maxSeqLen' | 'blocks' | 'tokensPerBlock' | 'reuse'> &
  Pick<ScriptedOptions, 'script'>;

/** The engine of an embedded server. Ids in `faults` that are not this folder's have no effect here. */
export function createEngine(
  options: Pick<EmbeddedOptions, 'engine' | 'checkpoint' | 'reduction' | 'stepMs' | 'faults'>,
  limits: EngineLimits = {},
): Engine {
  const { engine, checkpoint, reduction, stepMs } = options;
  if (engine === 'scripted') return createScriptedEngine({ ...limits, stepMs });
  return createLlamaEngine({ ...limits, checkpoint, reduction, stepMs, faults: new Set(options.faults) });
}
