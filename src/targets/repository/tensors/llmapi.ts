/** The tensors of the LLM API's model (upstream `llmapi/tensorrt_llm/config.pbtxt`), by release. */
import { row, type TensorRow } from './row.ts';

const SINCE_1_X = { since: '1.x' } as const;

export const LLMAPI_INPUTS: readonly TensorRow[] = [
  row('text_input', 'STRING', [-1]),
  row('streaming', 'BOOL', [1], 'optional'),
  row('sampling_param_beam_width', 'INT32', [1], 'optional', { until: '0.19' }),
  row('sampling_param_best_of', 'INT32', [1], 'optional', SINCE_1_X),
  row('sampling_param_temperature', 'FP32', [1], 'optional'),
  row('sampling_param_top_k', 'INT32', [1], 'optional'),
  row('sampling_param_top_p', 'FP32', [1], 'optional'),
  row('sampling_param_frequency_penalty', 'FP32', [1], 'optional'),
  row('sampling_param_presence_penalty', 'FP32', [1], 'optional'),
  row('sampling_param_max_tokens', 'INT32', [1], 'optional'),
  row('sampling_param_stop', 'STRING', [-1], 'optional'),
  row('sampling_param_seed', 'UINT64', [1], 'optional'),
  row('sampling_param_exclude_input_from_output', 'BOOL', [1], 'optional'),
  row('sampling_param_return_perf_metrics', 'BOOL', [1], 'optional', SINCE_1_X),
  row('return_finish_reason', 'BOOL', [1], 'optional'),
  row('return_stop_reason', 'BOOL', [1], 'optional'),
  row('return_cumulative_logprob', 'BOOL', [1], 'optional'),
  row('stop', 'BOOL', [1], 'optional', SINCE_1_X),
];

export const LLMAPI_OUTPUTS: readonly TensorRow[] = [
  row('text_output', 'STRING', [-1]),
  row('finish_reason', 'STRING', [-1]),
  row('stop_reason', 'STRING', [-1]),
  row('cumulative_logprob', 'FP32', [-1]),
  row('kv_cache_reused_block', 'INT32', [-1], '', SINCE_1_X),
  row('kv_cache_missed_block', 'INT32', [-1], '', SINCE_1_X),
  row('kv_cache_alloc_new_blocks', 'INT32', [-1], '', SINCE_1_X),
  row('kv_cache_alloc_total_blocks', 'INT32', [-1], '', SINCE_1_X),
  row('kv_cache_hit_rate', 'FP32', [-1], '', SINCE_1_X),
  row('arrival_time_ns', 'INT64', [1], '', SINCE_1_X),
  row('first_scheduled_time_ns', 'INT64', [1], '', SINCE_1_X),
  row('first_token_time_ns', 'INT64', [1], '', SINCE_1_X),
  row('last_token_time_ns', 'INT64', [1], '', SINCE_1_X),
  row('acceptance_rate', 'FP32', [1], '', SINCE_1_X),
  row('total_accepted_draft_tokens', 'INT32', [1], '', SINCE_1_X),
  row('total_draft_tokens', 'INT32', [1], '', SINCE_1_X),
];
