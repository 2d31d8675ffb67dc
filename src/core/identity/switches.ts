/**
 * Environment variables that change which kernels a TensorRT-LLM server picks or how it sums, and with that answers
 * (docs/determinism.md). They hold no secrets, so their values are part of an identity.
 */
export const SWITCHES: readonly string[] = [
  'FORCE_DETERMINISTIC',
  'FORCE_MOE_KERNEL_DETERMINISTIC',
  'FORCE_ATTENTION_KERNEL_DETERMINISTIC',
  'FORCE_ALL_REDUCE_DETERMINISTIC',
  'FORCE_ALLREDUCE_KERNEL_WORKSPACE_SIZE',
  'FORCE_NCCL_ALL_REDUCE_STRATEGY',
  'DISABLE_LAMPORT_REDUCE_NORM_FUSION',
  'TRTLLM_FORCE_XQA',
  'TRTLLM_ENABLE_XQA_JIT',
  'TRTLLM_XQA_BLOCKS_PER_SEQUENCE',
  'TRTLLM_MMHA_BLOCKS_PER_SEQUENCE',
  'TRTLLM_MMHA_KERNEL_BLOCK_SIZE',
  'TRTLLM_ENABLE_MMHA_MULTI_BLOCK_DEBUG',
  'TRTLLM_GEN_ENABLE_TILE_SIZE_KV64',
  'TRTLLM_DISABLE_CHUNKED_ATTENTION_IN_GEN_PHASE',
  'TRTLLM_ENABLE_PDL',
  'TRTLLM_MOE_DISABLE_FINALIZE_FUSION',
  'TRTLLM_LLAMA_EAGER_FUSION_DISABLED',
  'TRTLLM_ORCHESTRATOR',
  'TLLM_ALLOW_N_GREEDY_DECODING',
  'NCCL_ALGO',
  'NCCL_PROTO',
  'CUBLAS_WORKSPACE_CONFIG',
  'NVIDIA_TF32_OVERRIDE',
];

/** Those that are set, as `NAME=value`, or "none". */
export function switchesOf(env: Readonly<Record<string, string | undefined>>): string {
  const set = SWITCHES.filter((name) => env[name] !== undefined && env[name] !== '');
  return set.length === 0 ? 'none' : set.map((name) => `${name}=${env[name]}`).join(' ');
}
