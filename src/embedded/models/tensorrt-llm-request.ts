import type { ModelsProfile } from '#core/profile/index.ts';
import type { EngineBeams, EngineRequest, EngineSampling } from '../engine/types.ts';
import type { ModelRequest } from '../core/index.ts';
import { boolAt, fp32At, fp32Values, int32At, int32Values, optional, uint64At } from './values.ts';
import { phrasesOf } from './word-list.ts';

export interface RequestReading {
  readonly profile: ModelsProfile;
  /** Fault `beam-width-ignored`. */
  readonly ignoresBeamWidth: boolean;
  /** Fault `positional-args-shift`. */
  readonly shiftsArguments: boolean;
  /** Fault `repetition-penalty-no-effect-inflight`. */
  readonly losesRepetitionPenalty: boolean;
  /** Fault `first-row-samples-for-all`. */
  readonly samplesByFirstRow: boolean;
  readonly vocabSize: number;
}

/** Sequences that row `row` asks for: as many engine requests, unless they are beams of one. */
export function sequencesOf(request: ModelRequest, row: number): number {
  return int32At(request, 'num_return_sequences', row) ?? 1;
}

/**
 * The beam search that row `row` asks for, or undefined. With num_return_sequences so many of the beams are told
 * (upstream executor/samplingConfig.cpp, updateNumReturnBeams); defaults of layers/defaultDecodingParams.h.
 */
export function beamsOf(request: ModelRequest, row: number, { ignoresBeamWidth }: RequestReading): EngineBeams | undefined {
  const width = int32At(request, 'beam_width', row) ?? 1;
  if (width === 1 || ignoresBeamWidth) return undefined;
  return {
    width,
    returned: Math.min(width, int32At(request, 'num_return_sequences', row) ?? width),
    lengthPenalty: fp32At(request, 'len_penalty', row) ?? 0,
    earlyStopping: optional(request, 'early_stopping') === undefined || boolAt(request, 'early_stopping', row),
    diversityRate: fp32At(request, 'beam_search_diversity_rate', row) ?? 0,
  };
}

/** Sequence `sequence` of row `row` of a request's batch as the engine takes it. */
export function engineRequestOf(request: ModelRequest, row: number, sequence: number, reading: RequestReading): EngineRequest {
  const minTokens = int32At(request, reading.profile.minTokensTensor.value, row) ?? 0;
  return {
    id: request.id,
    promptIds: promptIds(request, row),
    maxTokens: int32At(request, 'request_output_len', row) ?? 0,
    endId: int32At(request, 'end_id', row) ?? -1,
    // Fault positional-args-shift: one argument too few before this one, so its value arrives one place further.
    minTokens: reading.shiftsArguments ? 0 : minTokens,
    stopWords: wordList(request, 'stop_words_list', row),
    badWords: wordList(request, 'bad_words_list', row),
    embeddingBias: embeddingBias(request, row, reading.vocabSize),
    sampling: samplingOf(request, row, sequence, reading, minTokens),
    beams: beamsOf(request, row, reading),
    wantLogProbs: boolAt(request, 'return_log_probs', row),
    wantLogits: boolAt(request, 'return_generation_logits', row),
    wantContextLogits: boolAt(request, 'return_context_logits', row),
    wantPerf: boolAt(request, 'return_perf_metrics', row),
  };
}

function promptIds(request: ModelRequest, row: number): Int32Array {
  const tensor = optional(request, 'input_ids');
  if (tensor === undefined) return new Int32Array(0);
  const width = tensor.shape[1] ?? 0;
  const length = Math.min(width, Math.max(0, int32At(request, 'input_lengths', row) ?? width));
  return int32Values(tensor.data).slice(row * width, row * width + length);
}

function wordList(request: ModelRequest, name: string, row: number): number[][] {
  const tensor = optional(request, name);
  return tensor === undefined ? [] : phrasesOf(int32Values(tensor.data), tensor.shape[2] ?? 0, row);
}

function embeddingBias(request: ModelRequest, row: number, vocabSize: number): Float32Array | undefined {
  const tensor = optional(request, 'embedding_bias');
  const width = tensor?.shape[1] ?? 0;
  if (tensor === undefined || width === 0) return undefined;
  const bias = new Float32Array(vocabSize);
  bias.set(fp32Values(tensor.data).subarray(row * width, row * width + Math.min(width, vocabSize)));
  return bias;
}

function samplingOf(request: ModelRequest, own: number, sequence: number, reading: RequestReading, minTokens: number): EngineSampling {
  // Fault first-row-samples-for-all: one sampler is made for the whole batch.
  const row = reading.samplesByFirstRow ? 0 : own;
  const topP = fp32At(request, 'runtime_top_p', row);
  const temperature = fp32At(request, 'temperature', row);
  // Without the gap, temperature 0 is greedy with whatever it comes.
  const greedy = temperature === 0 && !reading.profile.temperatureZeroWithTopPSamples.value;
  const shifted = reading.shiftsArguments && minTokens > 0 ? minTokens : undefined;
  return defined({
    temperature,
    topK: greedy ? 1 : int32At(request, 'runtime_top_k', row),
    // Values ≤ 0 count as unset (upstream utils.cc).
    topP: topP !== undefined && topP > 0 ? topP : undefined,
    topPDecay: fp32At(request, 'runtime_top_p_decay', row),
    topPMin: fp32At(request, 'runtime_top_p_min', row),
    topPResetId: int32At(request, 'runtime_top_p_reset_ids', row),
    seed: seedOf(request, row, sequence, reading),
    // Fault repetition-penalty-no-effect-inflight: it is not handed on to the in-flight batch.
    repetitionPenalty: reading.losesRepetitionPenalty ? undefined : fp32At(request, 'repetition_penalty', row),
    presencePenalty: fp32At(request, 'presence_penalty', row),
    frequencyPenalty: shifted ?? fp32At(request, 'frequency_penalty', row),
  });
}

/**
 * The seed of one of several sequences: the one of the request plus the sequence's index, so that they differ; a request
 * without a seed counts from 0 (upstream llmRequest.cpp, createChildRequest).
 */
function seedOf(request: ModelRequest, row: number, sequence: number, reading: RequestReading): bigint | undefined {
  const seed = uint64At(request, reading.profile.seedTensor.value, row);
  if (sequencesOf(request, row) === 1) return seed;
  return BigInt.asUintN(64, (seed ?? 0n) + BigInt(sequence));
}

function defined(values: { [K in keyof EngineSampling]: EngineSampling[K] | undefined }): EngineSampling {
  return Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined)) as EngineSampling;
}
