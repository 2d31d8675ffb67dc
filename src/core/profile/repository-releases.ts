/**
 * The stock model repository by TensorRT-LLM release: each is the one before it and what changed. Up to 0.19 it lived in
 * triton-inference-server/tensorrtllm_backend (`all_models/inflight_batcher_llm`, read at each tag), from 0.20 on in
 * NVIDIA/TensorRT-LLM (`triton_backend/all_models`). 0.20 and 0.21 are not listed: their files were not read.
 */
import { observed, read } from './facts.ts';
import type { RepositoryRelease } from './profile.ts';

const OBSERVED = 'docs/observed.md#model-repository-1-x';
const BACKEND = 'triton-inference-server/tensorrtllm_backend';

function after(previous: RepositoryRelease, id: string, changes: Partial<Omit<RepositoryRelease, 'id'>>): RepositoryRelease {
  return { ...previous, ...changes, id };
}

const REPOSITORY_0_14: RepositoryRelease = {
  id: '0.14',
  seedTensor: read('random_seed', `${BACKEND} v0.14.0`),
  minTokensTensor: read('min_length', `${BACKEND} v0.14.0`),
  ensembleExcludeInput: read(false, `${BACKEND} v0.14.0`),
  returnsTokenCounts: read(false, `${BACKEND} v0.14.0`),
  perfMetricsTensor: read('none', `${BACKEND} v0.14.0`),
  addSpecialTokens: observed(true, OBSERVED),
  kvCacheReuse: read(false, `${BACKEND} v0.14.0, inflight_batcher_llm/src/model_instance_state.cc`),
  multiBlockMode: read(true, `${BACKEND} v0.14.0, docs/model_config.md`),
  visionParameter: read('visual_model_path', `${BACKEND} v0.14.0`),
  staticBatching: read(true, `${BACKEND} v0.14.0, docs/model_config.md`),
  llmapi: read(false, `${BACKEND} v0.14.0`),
};

const REPOSITORY_0_15 = after(REPOSITORY_0_14, '0.15', {});

const REPOSITORY_0_16 = after(REPOSITORY_0_15, '0.16', {
  ensembleExcludeInput: read(true, `${BACKEND} v0.16.0`),
  perfMetricsTensor: read('return_kv_cache_reuse_stats', `${BACKEND} v0.16.0`),
});

const REPOSITORY_0_17 = after(REPOSITORY_0_16, '0.17', {});

const REPOSITORY_0_18 = after(REPOSITORY_0_17, '0.18', {});

export const REPOSITORY_0_19 = after(REPOSITORY_0_18, '0.19', {
  perfMetricsTensor: read('return_perf_metrics', `${BACKEND} v0.19.0`),
  kvCacheReuse: read(true, `${BACKEND} v0.19.0, inflight_batcher_llm/src/model_instance_state.cc`),
  visionParameter: read('multimodal_model_path', `${BACKEND} v0.19.0`),
  llmapi: read(true, `${BACKEND} v0.19.0`),
});

export const REPOSITORY_1_X = after(REPOSITORY_0_19, '1.x', {
  seedTensor: observed('seed', OBSERVED),
  minTokensTensor: observed('min_tokens', OBSERVED),
  ensembleExcludeInput: observed(true, OBSERVED),
  returnsTokenCounts: observed(true, OBSERVED),
  staticBatching: read(false, 'docs/source/release-notes.md, 0.20'),
});

/** Oldest first. */
export const REPOSITORY_RELEASES: readonly RepositoryRelease[] = [
  REPOSITORY_0_14,
  REPOSITORY_0_15,
  REPOSITORY_0_16,
  REPOSITORY_0_17,
  REPOSITORY_0_18,
  REPOSITORY_0_19,
  REPOSITORY_1_X,
];
