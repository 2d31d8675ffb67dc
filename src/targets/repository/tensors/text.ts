/** The tensors of the models that take text: `ensemble` and `tensorrt_llm_bls`, by release. */
import { ANSWER_FACTS, minTokensName, PERF_METRICS, perfMetricsName, seedName, WITH_COUNTS } from './engine.ts';
import { row, type TensorRow } from './row.ts';

const WITH_EXCLUDE = { when: ({ ensembleExcludeInput }: { ensembleExcludeInput: { value: boolean } }) => ensembleExcludeInput.value };
const SINCE_0_15 = { since: '0.15' } as const;
const SINCE_0_16 = { since: '0.16' } as const;
const SINCE_0_19 = { since: '0.19' } as const;

/** What either hands on as it came. */
const WORDS_AND_SAMPLING: readonly TensorRow[] = [
  row('bad_words', 'STRING', [-1], 'optional'),
  row('stop_words', 'STRING', [-1], 'optional'),
  row('exclude_input_in_output', 'BOOL', [1], 'optional', WITH_EXCLUDE),
  row('end_id', 'INT32', [1], 'optional'),
  row('pad_id', 'INT32', [1], 'optional'),
  row('top_k', 'INT32', [1], 'optional'),
  row('top_p', 'FP32', [1], 'optional'),
  row('temperature', 'FP32', [1], 'optional'),
  row('length_penalty', 'FP32', [1], 'optional'),
  row('repetition_penalty', 'FP32', [1], 'optional'),
  row(minTokensName, 'INT32', [1], 'optional'),
  row('presence_penalty', 'FP32', [1], 'optional'),
  row('frequency_penalty', 'FP32', [1], 'optional'),
  row(seedName, 'UINT64', [1], 'optional'),
];

export const ENSEMBLE_INPUTS: readonly TensorRow[] = [
  row('text_input', 'STRING', [1]),
  row('decoder_text_input', 'STRING', [1], 'optional'),
  row('max_tokens', 'INT32', [1]),
  row('num_return_sequences', 'INT32', [1], 'optional'),
  ...WORDS_AND_SAMPLING,
  row('return_log_probs', 'BOOL', [1], 'optional'),
  row('return_context_logits', 'BOOL', [1], 'optional'),
  row('return_generation_logits', 'BOOL', [1], 'optional'),
  row(perfMetricsName, 'BOOL', [1], 'optional'),
  row('return_num_input_tokens', 'BOOL', [1], 'optional', WITH_COUNTS),
  row('return_num_output_tokens', 'BOOL', [1], 'optional', WITH_COUNTS),
  row('beam_width', 'INT32', [1], 'optional'),
  row('stream', 'BOOL', [1], 'optional'),
  row('prompt_embedding_table', 'FP16', [-1, -1], 'optional'),
  row('prompt_table_extra_id', 'UINT64', [1], 'optional'),
  row('prompt_vocab_size', 'INT32', [1], 'optional'),
  row('embedding_bias_words', 'STRING', [-1], 'optional'),
  row('embedding_bias_weights', 'FP32', [-1], 'optional'),
  row('lora_task_id', 'UINT64', [1], 'optional', SINCE_0_15),
  row('lora_weights', 'FP16', [-1, -1], 'optional ragged', SINCE_0_15),
  row('lora_config', 'INT32', [-1, 3], 'optional ragged', SINCE_0_15),
  row('guided_decoding_guide_type', 'STRING', [1], 'optional ragged', SINCE_0_19),
  row('guided_decoding_guide', 'STRING', [1], 'optional ragged', SINCE_0_19),
];

export const TEXT_OUTPUTS: readonly TensorRow[] = [row('text_output', 'STRING', [-1]), ...ANSWER_FACTS, ...PERF_METRICS];

export const BLS_INPUTS: readonly TensorRow[] = [
  row('text_input', 'STRING', [1]),
  row('decoder_text_input', 'STRING', [1], 'optional'),
  row('image_input', 'FP16', [3, -1, -1], 'optional', { until: '0.14' }),
  row('image_input', 'FP16', [-1, 3, -1, -1], 'optional', SINCE_0_15),
  row('image_bytes_input', 'UINT8', [-1, -1, -1, -1], 'optional', SINCE_0_16),
  row('image_url_input', 'STRING', [1], 'optional', SINCE_0_16),
  row('video_bytes_input', 'UINT8', [-1, -1, -1, -1], 'optional', SINCE_0_16),
  row('max_tokens', 'INT32', [1]),
  ...WORDS_AND_SAMPLING,
  row('return_log_probs', 'BOOL', [1], 'optional scalar'),
  row('return_context_logits', 'BOOL', [1], 'optional scalar'),
  row('return_generation_logits', 'BOOL', [1], 'optional scalar'),
  row('num_return_sequences', 'INT32', [1], 'optional scalar'),
  row('beam_width', 'INT32', [1], 'optional'),
  row('stream', 'BOOL', [1], 'optional'),
  row('prompt_embedding_table', 'FP16', [-1, -1], 'optional'),
  row('prompt_vocab_size', 'INT32', [1], 'optional'),
  row('prompt_table_extra_id', 'UINT64', [1], 'optional'),
  row('embedding_bias_words', 'STRING', [-1], 'optional'),
  row('embedding_bias_weights', 'FP32', [-1], 'optional'),
  row('num_draft_tokens', 'INT32', [1], 'optional'),
  row('use_draft_logits', 'BOOL', [1], 'optional scalar'),
  row('lora_task_id', 'UINT64', [1], 'optional scalar', SINCE_0_15),
  row('lora_weights', 'FP16', [-1, -1], 'optional ragged', SINCE_0_15),
  row('lora_config', 'INT32', [-1, 3], 'optional ragged', SINCE_0_15),
  row(perfMetricsName, 'BOOL', [1], 'optional scalar'),
  row('return_num_input_tokens', 'BOOL', [1], 'optional scalar', WITH_COUNTS),
  row('return_num_output_tokens', 'BOOL', [1], 'optional scalar', WITH_COUNTS),
  row('guided_decoding_guide_type', 'STRING', [1], 'optional', SINCE_0_19),
  row('guided_decoding_guide', 'STRING', [1], 'optional', SINCE_0_19),
];
