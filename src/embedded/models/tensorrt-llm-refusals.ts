import type { ModelRequest } from '../core/index.ts';
import { fp32At, int32At, int32Values, optional } from './values.ts';

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
  'prompt_table_extra_ids',
  'prompt_vocab_size',
  'runtime_top_p_min',
  'runtime_top_p_reset_ids',
  'runtime_top_p_decay',
]);

export interface EngineLimits {
  readonly vocabSize: number;
  readonly maxBeamWidth: number;
}

/** A refusal of the back end itself, before the engine sees the request: the whole text. */
export function malformed(request: ModelRequest): string | undefined {
  for (let row = 0; row < request.batchSize; row++) {
    const text = wordListFault(request, 'bad_words_list', row) ?? wordListFault(request, 'stop_words_list', row);
    if (text !== undefined) return text;
  }
  return retentionFault(request) ?? lookaheadFault(request);
}

/** Texts of upstream triton_backend/inflight_batcher_llm/src/utils.cc, convertWordList. */
function wordListFault(request: ModelRequest, name: string, row: number): string | undefined {
  const tensor = optional(request, name);
  const length = tensor?.shape[2] ?? 0;
  if (tensor === undefined) return undefined;
  const list = Array.from(int32Values(tensor.data).subarray(row * 2 * length, (row + 1) * 2 * length));
  const shown = list.map((value) => `${value} `).join('');
  const ends = list.slice(length);
  const known = ends.indexOf(-1) < 0 ? ends : ends.slice(0, ends.indexOf(-1));
  if (ends.slice(known.length).some((end) => end !== -1)) return `Sparse list must not have additional -1s: ${shown}`;
  for (const [i, end] of known.entries()) {
    if (end > length) return `Sparse list must not have out-of-bound offsets: ${shown}`;
    if (i > 0 && end <= known[i - 1]!) return `Sparse list must not have non-increasing offsets: ${shown}`;
  }
  return undefined;
}

/** Texts of utils.cc, getKvCacheRetentionConfigFromTensors. */
function retentionFault(request: ModelRequest): string | undefined {
  const count = (name: string) => optional(request, name)?.data.length;
  const starts = count('retention_token_range_starts');
  if (starts === undefined) return undefined;
  for (const name of ['retention_token_range_ends', 'retention_token_range_priorities']) {
    if (count(name) !== starts) return `${name} must be provided, and have the same length as retention_token_range_starts`;
  }
  if ((count('retention_token_range_durations_ms') ?? starts) === starts) return undefined;
  return 'retention_token_range_durations_ms must have the same length as retention_token_range_starts';
}

/** Texts of utils.cc, getLookaheadDecodingFromTensors: this engine is not set up for it. */
function lookaheadFault(request: ModelRequest): string | undefined {
  if (optional(request, 'lookahead_window_size') === undefined) return undefined;
  for (const name of ['lookahead_ngram_size', 'lookahead_verification_set_size']) {
    if (optional(request, name) === undefined) return `Failed to extract ${name}`;
  }
  return 'Cannot set the request lookahead decoding configuration when model instance lookahead parameters are not set.';
}

/**
 * Why the engine refuses this request, or undefined: the text behind "…due to the following error: ". Texts that no
 * upstream source was found for are those of the Python twin of this model (docker/models/tensorrt_llm).
 */
export function refusalOf(request: ModelRequest, limits: EngineLimits): string | undefined {
  const text = featureRefusal(request);
  if (text !== undefined) return text;
  for (const [name, tensor] of request.inputs) {
    if (!UNDERSTOOD.has(name) && tensor.data.length > 0) return `${name} is not supported by this engine`;
  }
  for (let row = 0; row < request.batchSize; row++) {
    const found = promptRefusal(request, row, limits) ?? beamRefusal(request, row, limits) ?? samplingRefusal(request, row);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a real engine without the feature says: cpp/tensorrt_llm/executor/executorImpl.cpp, batch_manager/llmRequest.cpp. */
function featureRefusal(request: ModelRequest): string | undefined {
  if (optional(request, 'guided_decoding_guide_type') !== undefined) {
    return 'Request is specified with GuidedDecodingParams, but GuidedDecoder is not setup. Please provide a valid GuidedDecodingConfig to setup GuidedDecoder.';
  }
  const drafted = optional(request, 'draft_input_ids')?.shape[1] ?? 0;
  return drafted > 0 ? `Draft tokens length (${drafted}) exceeds maximum draft tokens length (0).` : undefined;
}

function promptRefusal(request: ModelRequest, row: number, { vocabSize }: EngineLimits): string | undefined {
  const tensor = optional(request, 'input_ids');
  const width = tensor?.shape[1] ?? 0;
  const length = int32At(request, 'input_lengths', row) ?? 0;
  if (tensor === undefined || length < 1 || length > width) return `input_lengths ${length} does not fit input_ids of ${width} tokens`;
  const ids = int32Values(tensor.data).subarray(row * width, row * width + length);
  if (ids.some((id) => id < 0 || id >= vocabSize)) return `input_ids holds a token outside [0, ${vocabSize})`;
  const endId = int32At(request, 'end_id', row) ?? -1;
  if (endId < -1 || endId >= vocabSize) return `EndId (${endId}) is not within acceptable range [-1, ${vocabSize}).`;
  const bias = optional(request, 'embedding_bias')?.shape[1] ?? 0;
  if (bias !== 0 && bias !== vocabSize) return `embedding_bias must have ${vocabSize} values, got ${bias}`;
  const maxTokens = int32At(request, 'request_output_len', row) ?? 1;
  return maxTokens < 1 ? `request_output_len must be at least 1, got ${maxTokens}` : undefined;
}

function beamRefusal(request: ModelRequest, row: number, { maxBeamWidth }: EngineLimits): string | undefined {
  const beams = int32At(request, 'beam_width', row) ?? 1;
  if (beams < 1 || beams > maxBeamWidth) return `beam_width ${beams} exceeds max_beam_width ${maxBeamWidth}`;
  const sequences = int32At(request, 'num_return_sequences', row) ?? 1;
  if (sequences < 1) return `num_return_sequences must be at least 1, got ${sequences}`;
  if (beams > 1 && sequences > beams) return `num_return_sequences ${sequences} exceeds beam_width ${beams}`;
  const diversity = fp32At(request, 'beam_search_diversity_rate', row) ?? 0;
  // Written so that a NaN is refused too, here and below.
  if (!(diversity >= 0)) return `beam_search_diversity_rate must be >= 0, got ${pythonFloat(diversity)}`;
  const penalty = fp32At(request, 'len_penalty', row) ?? 0;
  return penalty >= 0 ? undefined : `len_penalty must be >= 0, got ${pythonFloat(penalty)}`;
}

function samplingRefusal(request: ModelRequest, row: number): string | undefined {
  const int = (name: string, fallback: number): number => int32At(request, name, row) ?? fallback;
  const float = (name: string, fallback: number): number => fp32At(request, name, row) ?? fallback;
  const topK = int('runtime_top_k', 0);
  if (topK < 0 || topK > 1024) return `runtime_top_k must be in [0, 1024], got ${topK}`;
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
