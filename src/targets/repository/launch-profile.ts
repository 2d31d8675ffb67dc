/**
 * The launch profile: what every made repository is given so that answers can be equal. Names are fill_template's; the
 * reasons stand as comments in the files and are explained in docs/determinism.md.
 */
import type { RepositoryRelease } from '#core/profile/index.ts';

export interface ProfileValue {
  readonly value: string;
  readonly why?: string;
}

export function launchProfile(release: RepositoryRelease): Readonly<Record<string, ProfileValue>> {
  const kept = (value: boolean) => ({ value: String(value) });
  return {
    batch_scheduler_policy: { value: 'guaranteed_no_evict', why: 'a started request is never paused and computed again' },
    enable_kv_cache_reuse: {
      value: 'false',
      why: `a prompt is computed whole every time; ${release.id} does without this line: ${release.kvCacheReuse.value}`,
    },
    kv_cache_host_memory_bytes: { value: '0', why: 'no block moves to the host and back' },
    enable_chunked_context: { value: 'false', why: 'a prompt is summed in one piece' },
    multi_block_mode: {
      value: 'false',
      why: `attention is not split by load and length; ${release.id} does without this line: ${release.multiBlockMode.value}`,
    },
    cuda_graph_mode: { value: 'false', why: 'no padding to the shapes of recorded graphs' },
    normalize_log_probs: kept(true),
    exclude_input_in_output: kept(false),
    add_special_tokens: kept(release.addSpecialTokens.value),
    skip_special_tokens: kept(true),
    accumulate_tokens: kept(false),
    tensorrt_llm_model_name: { value: 'tensorrt_llm' },
    preprocessing_instance_count: { value: '1' },
    postprocessing_instance_count: { value: '1', why: 'more would give the chunks of a stream in another order' },
    bls_instance_count: { value: '1' },
    encoder_input_features_data_type: { value: 'TYPE_FP16' },
    prompt_embedding_table_data_type: { value: 'TYPE_FP16' },
  };
}
