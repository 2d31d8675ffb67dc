import type { ModelsProfile } from '#core/profile/index.ts';
import type { EngineRequest, EngineSampling } from '../engine/types.ts';
import type { ModelRequest } from '../core/index.ts';
import { boolAt, fp32At, fp32Values, int32At, int32Values, optional, uint64At } from './values.ts';
import { phrasesOf } from './word-list.ts';

/**
 * Inputs that are honoured, or without effect here as on the real engine under the same conditions: beam settings at
 * one beam, a decoder prompt on a decoder-only model.
 */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  'input_ids',
  'input_lengths',
  'request_output_len',
  'num_return_sequences',
  'end_id',
  'pad_id',
  'stop_words_list',
  'bad_words_list',
  'embedding_bias',
  'beam_width',
  'temperature',
  'runtime_top_k',
  'runtime_top_p',
  'len_penalty',
  'early_stopping',
  'repetition_penalty',
  'min_tokens',
  'min_length',
  'beam_search_diversity_rate',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'random_seed',
  'return_log_probs',
  'return_context_logits',
  'return_generation_logits',
  'return_perf_metrics',
  'return_num_input_tokens',
  'return_num_output_tokens',
  'exclude_input_in_output',
  'stop',
  'streaming',
  'decoder_input_ids',
  'decoder_input_lengths',
  'runtime_top_p_min',
  'runtime_top_p_reset_ids',
  'runtime_top_p_decay',
]);

export interface EngineLimits {
  readonly vocabSize: number;
  readonly maxBeamWidth: number;
}

/**
 * Why the engine refuses this request, or undefined: the text behind "…due to the following error: ". Texts that no
 * upstream source was found for are those of the Python twin of this model (docker/models/tensorrt_llm).
 */
export function refusalOf(request: ModelRequest, limits: EngineLimits): string | undefined {
  for (const [name, tensor] of request.inputs) {
    if (!UNDERSTOOD.has(name) && tensor.data.length > 0) return `${name} is not supported by this engine`;
  }
  for (let row = 0; row < request.batchSize; row++) {
    const text = promptRefusal(request, row, limits.vocabSize) ?? settingsRefusal(request, row, limits.maxBeamWidth);
    if (text !== undefined) return text;
  }
  return undefined;
}

function promptRefusal(request: ModelRequest, row: number, vocabSize: number): string | undefined {
  const width = optional(request, 'input_ids')?.shape[1] ?? 0;
  const length = int32At(request, 'input_lengths', row) ?? 0;
  if (length < 1 || length > width) return `input_lengths ${length} does not fit input_ids of ${width} tokens`;
  return promptIds(request, row).some((id) => id < 0 || id >= vocabSize) ? `input_ids holds a token outside [0, ${vocabSize})` : undefined;
}

function settingsRefusal(request: ModelRequest, row: number, maxBeamWidth: number): string | undefined {
  const int = (name: string, fallback: number): number => int32At(request, name, row) ?? fallback;
  const float = (name: string, fallback: number): number => fp32At(request, name, row) ?? fallback;
  const beams = int('beam_width', 1);
  if (int('request_output_len', 1) < 1) return `request_output_len must be at least 1, got ${int('request_output_len', 1)}`;
  if (beams < 1 || beams > maxBeamWidth) return `beam_width ${beams} exceeds max_beam_width ${maxBeamWidth}`;
  const sequences = int('num_return_sequences', 1);
  if (sequences < 1) return `num_return_sequences must be at least 1, got ${sequences}`;
  for (const name of ['return_context_logits', 'return_perf_metrics']) {
    if (boolAt(request, name, row)) return `${name} is not supported by this engine`;
  }
  const topK = int('runtime_top_k', 0);
  if (topK < 0 || topK > 1024) return `runtime_top_k must be in [0, 1024], got ${topK}`;
  // Written so that a NaN is refused too.
  if (!(float('temperature', 1) >= 0)) return `temperature must be >= 0, got ${pythonFloat(float('temperature', 1))}`;
  if (!(float('runtime_top_p', 0) <= 1)) return `runtime_top_p must be <= 1, got ${pythonFloat(float('runtime_top_p', 0))}`;
  const decay = float('runtime_top_p_decay', 1);
  if (!(decay > 0 && decay <= 1)) return `runtime_top_p_decay must be in (0, 1], got ${pythonFloat(decay)}`;
  const lowest = float('runtime_top_p_min', 1);
  if (!(lowest >= 0 && lowest <= 1)) return `runtime_top_p_min must be in [0, 1], got ${pythonFloat(lowest)}`;
  if (int('runtime_top_p_reset_ids', 0) < 0) return `runtime_top_p_reset_ids must be at least 0, got ${int('runtime_top_p_reset_ids', 0)}`;
  if (!(float('repetition_penalty', 1) > 0)) return `repetition_penalty must be > 0, got ${pythonFloat(float('repetition_penalty', 1))}`;
  return undefined;
}

function pythonFloat(value: number): string {
  return Number.isNaN(value) ? 'nan' : Number.isInteger(value) ? value.toFixed(1) : String(value);
}

export interface RequestReading {
  readonly profile: ModelsProfile;
  /** Fault `positional-args-shift`. */
  readonly shiftsArguments: boolean;
  /** Fault `repetition-penalty-no-effect-inflight`. */
  readonly losesRepetitionPenalty: boolean;
  /** Fault `first-row-samples-for-all`. */
  readonly samplesByFirstRow: boolean;
  readonly vocabSize: number;
}

/** Sequences that row `row` asks for: as many engine requests, told apart by `sequence_index`. */
export function sequencesOf(request: ModelRequest, row: number): number {
  return int32At(request, 'num_return_sequences', row) ?? 1;
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
    wantLogProbs: boolAt(request, 'return_log_probs', row),
    wantLogits: boolAt(request, 'return_generation_logits', row),
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
