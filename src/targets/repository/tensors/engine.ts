/**
 * The tensors of `tensorrt_llm`, by release (upstream `inflight_batcher_llm/tensorrt_llm/config.pbtxt`). What a client does
 * with them is docs/surface.md.
 */
import type { RepositoryRelease } from '#core/profile/index.ts';
import { row, type TensorRow } from './row.ts';

const SINCE_0_15 = { since: '0.15' } as const;
const SINCE_0_16 = { since: '0.16' } as const;
const SINCE_0_17 = { since: '0.17' } as const;
const SINCE_0_19 = { since: '0.19' } as const;
export const WITH_COUNTS = { when: (release: RepositoryRelease) => release.returnsTokenCounts.value } as const;
export const seedName = (release: RepositoryRelease): string => release.seedTensor.value;
export const minTokensName = (release: RepositoryRelease): string => release.minTokensTensor.value;
export const perfMetricsName = (release: RepositoryRelease): string => release.perfMetricsTensor.value;

export const ENGINE_INPUTS: readonly TensorRow[] = [
  row('input_ids', 'INT32', [-1], 'ragged', { until: '0.14' }),
  row('input_ids', 'INT32', [-1], 'optional ragged', SINCE_0_15),
  row('encoder_input_features', 'ENCODER_FEATURES', [-1, -1], 'optional ragged', SINCE_0_15),
  row('encoder_output_lengths', 'INT32', [1], 'optional scalar', SINCE_0_15),
  row('input_lengths', 'INT32', [1], 'scalar'),
  row('request_output_len', 'INT32', [1], 'scalar'),
  row('num_return_sequences', 'INT32', [1], 'optional scalar'),
  row('draft_input_ids', 'INT32', [-1], 'optional ragged'),
  row('decoder_input_ids', 'INT32', [-1], 'optional ragged'),
  row('decoder_input_lengths', 'INT32', [1], 'optional scalar'),
  row('draft_logits', 'LOGITS', [-1, -1], 'optional ragged'),
  row('draft_acceptance_threshold', 'FP32', [1], 'optional scalar'),
  row('end_id', 'INT32', [1], 'optional scalar'),
  row('pad_id', 'INT32', [1], 'optional scalar'),
  row('stop_words_list', 'INT32', [2, -1], 'optional ragged'),
  row('bad_words_list', 'INT32', [2, -1], 'optional ragged'),
  row('embedding_bias', 'FP32', [-1], 'optional ragged'),
  row('beam_width', 'INT32', [1], 'optional scalar'),
  row('temperature', 'FP32', [1], 'optional scalar'),
  row('runtime_top_k', 'INT32', [1], 'optional scalar'),
  row('runtime_top_p', 'FP32', [1], 'optional scalar'),
  row('runtime_top_p_min', 'FP32', [1], 'optional scalar'),
  row('runtime_top_p_decay', 'FP32', [1], 'optional scalar'),
  row('runtime_top_p_reset_ids', 'INT32', [1], 'optional scalar'),
  row('len_penalty', 'FP32', [1], 'optional scalar'),
  row('early_stopping', 'BOOL', [1], 'optional scalar'),
  row('repetition_penalty', 'FP32', [1], 'optional scalar'),
  row(minTokensName, 'INT32', [1], 'optional scalar'),
  row('beam_search_diversity_rate', 'FP32', [1], 'optional scalar'),
  row('presence_penalty', 'FP32', [1], 'optional scalar'),
  row('frequency_penalty', 'FP32', [1], 'optional scalar'),
  row(seedName, 'UINT64', [1], 'optional scalar'),
  row('return_log_probs', 'BOOL', [1], 'optional scalar'),
  row('return_context_logits', 'BOOL', [1], 'optional scalar'),
  row('return_generation_logits', 'BOOL', [1], 'optional scalar'),
  row(perfMetricsName, 'BOOL', [1], 'optional scalar'),
  row('return_num_input_tokens', 'BOOL', [1], 'optional scalar', WITH_COUNTS),
  row('return_num_output_tokens', 'BOOL', [1], 'optional scalar', WITH_COUNTS),
  row('exclude_input_in_output', 'BOOL', [1], 'optional scalar'),
  row('stop', 'BOOL', [1], 'optional scalar'),
  row('streaming', 'BOOL', [1], 'optional scalar'),
  row('prompt_embedding_table', 'PROMPT_TABLE', [-1, -1], 'optional ragged'),
  row('prompt_table_extra_ids', 'UINT64', [-1], 'optional ragged'),
  row('prompt_vocab_size', 'INT32', [1], 'optional scalar'),
  row('cross_attention_mask', 'BOOL', [-1, -1], 'optional ragged', SINCE_0_15),
  row('mrope_rotary_cos_sin', 'FP32', [-1], 'optional', SINCE_0_19),
  row('mrope_position_deltas', 'INT64', [1], 'optional', SINCE_0_19),
  row('lora_task_id', 'UINT64', [1], 'optional scalar'),
  row('lora_weights', 'FP16', [-1, -1], 'optional ragged'),
  row('lora_config', 'INT32', [-1, 3], 'optional ragged'),
  row('context_phase_params', 'UINT8', [-1], 'optional ragged'),
  row('skip_cross_attn_blocks', 'BOOL', [1], 'optional ragged', SINCE_0_16),
  row('retention_token_range_starts', 'INT32', [-1], 'optional ragged', SINCE_0_17),
  row('retention_token_range_ends', 'INT32', [-1], 'optional ragged', SINCE_0_17),
  row('retention_token_range_priorities', 'INT32', [-1], 'optional ragged', SINCE_0_17),
  row('retention_token_range_durations_ms', 'INT32', [-1], 'optional ragged', SINCE_0_17),
  row('retention_decode_priority', 'INT32', [1], 'optional ragged', SINCE_0_17),
  row('retention_decode_duration_ms', 'INT32', [1], 'optional ragged', SINCE_0_17),
  row('guided_decoding_guide_type', 'STRING', [1], 'optional ragged', SINCE_0_19),
  row('guided_decoding_guide', 'STRING', [1], 'optional ragged', SINCE_0_19),
  row('lookahead_window_size', 'INT32', [1], 'optional ragged', SINCE_0_19),
  row('lookahead_ngram_size', 'INT32', [1], 'optional ragged', SINCE_0_19),
  row('lookahead_verification_set_size', 'INT32', [1], 'optional ragged', SINCE_0_19),
];

/** What the engine says beside ids, text or errors; ensemble and BLS hand these on under the same names. */
export const ANSWER_FACTS: readonly TensorRow[] = [
  row('cum_log_probs', 'FP32', [-1]),
  row('output_log_probs', 'FP32', [-1, -1]),
  row('context_logits', 'LOGITS', [-1, -1]),
  row('generation_logits', 'LOGITS', [-1, -1, -1]),
  row('batch_index', 'INT32', [1]),
  row('sequence_index', 'INT32', [1]),
];

export const PERF_METRICS: readonly TensorRow[] = [
  row('kv_cache_alloc_new_blocks', 'INT32', [1], '', SINCE_0_16),
  row('kv_cache_reused_blocks', 'INT32', [1], '', SINCE_0_16),
  row('kv_cache_alloc_total_blocks', 'INT32', [1], '', SINCE_0_16),
  row('arrival_time_ns', 'INT64', [1], '', SINCE_0_19),
  row('first_scheduled_time_ns', 'INT64', [1], '', SINCE_0_19),
  row('first_token_time_ns', 'INT64', [1], '', SINCE_0_19),
  row('last_token_time_ns', 'INT64', [1], '', SINCE_0_19),
  row('acceptance_rate', 'FP32', [1], '', SINCE_0_19),
  row('total_accepted_draft_tokens', 'INT32', [1], '', SINCE_0_19),
  row('total_draft_tokens', 'INT32', [1], '', SINCE_0_19),
  row('num_input_tokens', 'INT32', [1], '', WITH_COUNTS),
  row('num_output_tokens', 'INT32', [1], '', WITH_COUNTS),
];

export const ENGINE_OUTPUTS: readonly TensorRow[] = [
  row('output_ids', 'INT32', [-1, -1]),
  row('sequence_length', 'INT32', [-1]),
  ...ANSWER_FACTS,
  row('context_phase_params', 'UINT8', [-1]),
  ...PERF_METRICS,
];
