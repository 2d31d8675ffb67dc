/**
 * The parameters of the stock models: key in config.pbtxt, name in `tools/fill_template.py` where it is another, releases.
 * A parameter that nothing sets keeps its placeholder, which every release takes for "unset" and fill_template can fill later.
 */
import type { RepositoryRelease } from '#core/profile/index.ts';
import { isWithin, type Span } from './span.ts';

export interface ParameterRow extends Span {
  readonly key: string;
  /** Name that fill_template knows. */
  readonly variable: string;
  /** Not a placeholder upstream. */
  readonly fixed?: string;
}

function parameter(key: string, more: Partial<Omit<ParameterRow, 'key'>> = {}): ParameterRow {
  return { key, variable: key, ...more };
}

const SINCE_0_15 = { since: '0.15' } as const;
const SINCE_0_19 = { since: '0.19' } as const;

export const ENGINE_PARAMETERS: readonly ParameterRow[] = [
  parameter('max_beam_width'),
  parameter('FORCE_CPU_ONLY_INPUT_TENSORS', { fixed: 'no' }),
  parameter('gpt_model_type', { variable: 'batching_strategy' }),
  parameter('gpt_model_path', { variable: 'engine_dir' }),
  parameter('encoder_model_path', { variable: 'encoder_engine_dir' }),
  parameter('max_tokens_in_paged_kv_cache'),
  parameter('max_attention_window_size'),
  parameter('sink_token_length'),
  parameter('batch_scheduler_policy'),
  parameter('kv_cache_free_gpu_mem_fraction'),
  parameter('cross_kv_cache_fraction'),
  parameter('kv_cache_host_memory_bytes'),
  parameter('kv_cache_onboard_blocks'),
  parameter('exclude_input_in_output'),
  parameter('cancellation_check_period_ms'),
  parameter('stats_check_period_ms'),
  parameter('iter_stats_max_iterations'),
  parameter('request_stats_max_iterations'),
  parameter('enable_kv_cache_reuse'),
  parameter('normalize_log_probs'),
  parameter('enable_chunked_context'),
  parameter('gpu_device_ids'),
  parameter('participant_ids'),
  parameter('num_nodes', SINCE_0_19),
  parameter('lora_cache_optimal_adapter_size'),
  parameter('lora_cache_max_adapter_size'),
  parameter('lora_cache_gpu_memory_fraction'),
  parameter('lora_cache_host_memory_bytes'),
  parameter('lora_prefetch_dir', SINCE_0_19),
  parameter('decoding_mode'),
  parameter('executor_worker_path', { fixed: '/opt/tritonserver/backends/tensorrtllm/trtllmExecutorWorker' }),
  parameter('lookahead_window_size', SINCE_0_19),
  parameter('lookahead_ngram_size', SINCE_0_19),
  parameter('lookahead_verification_set_size', SINCE_0_19),
  parameter('medusa_choices'),
  parameter('eagle_choices', { since: '0.16' }),
  parameter('gpu_weights_percent'),
  parameter('enable_context_fmha_fp32_acc'),
  parameter('multi_block_mode'),
  parameter('cuda_graph_mode', SINCE_0_15),
  parameter('cuda_graph_cache_size', SINCE_0_15),
  parameter('speculative_decoding_fast_logits', SINCE_0_15),
  parameter('tokenizer_dir', SINCE_0_19),
  parameter('guided_decoding_backend', SINCE_0_19),
  parameter('xgrammar_tokenizer_info_path', SINCE_0_19),
];

export const PREPROCESSING_PARAMETERS: readonly ParameterRow[] = [
  parameter('tokenizer_dir'),
  parameter('add_special_tokens'),
  parameter('visual_model_path', { until: '0.18' }),
  parameter('multimodal_model_path', SINCE_0_19),
  parameter('gpt_model_path', { variable: 'engine_dir' }),
  parameter('max_num_images', SINCE_0_15),
  parameter('hf_model_path', { since: '1.x' }),
];

export const POSTPROCESSING_PARAMETERS: readonly ParameterRow[] = [parameter('tokenizer_dir'), parameter('skip_special_tokens')];

export const BLS_PARAMETERS: readonly ParameterRow[] = [
  parameter('accumulate_tokens'),
  parameter('tensorrt_llm_model_name'),
  parameter('tensorrt_llm_draft_model_name'),
  parameter('multimodal_encoders_name'),
];

/** What fill_template fills outside of parameters, by model. */
export const OTHER_VARIABLES: readonly string[] = [
  'triton_backend',
  'triton_max_batch_size',
  'decoupled_mode',
  'logits_datatype',
  'encoder_input_features_data_type',
  'prompt_embedding_table_data_type',
  'preprocessing_instance_count',
  'postprocessing_instance_count',
  'bls_instance_count',
];

export function parametersOf(rows: readonly ParameterRow[], release: RepositoryRelease): readonly ParameterRow[] {
  return rows.filter((one) => isWithin(release, one));
}

/** Every name that can be set for a repository of this release, as fill_template spells it. */
export function variablesOf(release: RepositoryRelease): readonly string[] {
  const rows = [...ENGINE_PARAMETERS, ...PREPROCESSING_PARAMETERS, ...POSTPROCESSING_PARAMETERS, ...BLS_PARAMETERS];
  const named = parametersOf(rows, release).flatMap(({ fixed, variable }) => (fixed === undefined ? [variable] : []));
  return [...new Set([...named, ...OTHER_VARIABLES])];
}
