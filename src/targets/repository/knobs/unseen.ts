/** Knobs that no file of a repository and no answer of a server shows. */
import type { UnseenKnob } from './knob.ts';

const ENV_SOURCE = 'source (`cpp/tensorrt_llm/common/envUtils.cpp`: only the exact value `1` counts)';

function variable(name: string, deterministic: string, effect: string, known: string = ENV_SOURCE): UnseenKnob {
  return {
    id: name.toLowerCase().replaceAll('_', '-'),
    place: 'environment',
    setting: `\`${name}\``,
    deterministic,
    effect,
    how: `Give it to every rank: ${deterministic.replaceAll('`', '')}.`,
    level: 'warning',
    known,
  };
}

export const UNSEEN_KNOBS: readonly UnseenKnob[] = [
  variable('FORCE_DETERMINISTIC', '`1`', 'leave the next three off; 1 turns them on'),
  variable('FORCE_MOE_KERNEL_DETERMINISTIC', '`1`', 'let the mixture-of-experts plugin take the profiled best tactic, not tactic 0'),
  variable('FORCE_ATTENTION_KERNEL_DETERMINISTIC', '`1`', 'split generation attention over blocks (XQA multi-block)'),
  variable('FORCE_ALL_REDUCE_DETERMINISTIC', '`1`', 'choose the all-reduce by message size; falls back to NCCL with a warning'),
  variable('FORCE_NCCL_ALL_REDUCE_STRATEGY', 'unset, or for ever the same', 'force NCCL, whatever its value', 'source'),
  variable('DISABLE_LAMPORT_REDUCE_NORM_FUSION', 'unset, or for ever the same', 'replace a fused kernel, whatever its value', 'source'),
  variable('TRTLLM_ENABLE_PDL', 'for ever the same; on by default since 1.2', 'overlap kernels', 'doc (release notes 1.2)'),
  variable('NCCL_ALGO', 'for ever the same, such as `Ring`', 'change the order of sums over GPUs', 'inferred'),
  variable(
    'CUBLAS_WORKSPACE_CONFIG',
    '`:4096:8` or `:16:8`, for the PyTorch back end',
    'let cuBLAS choose by streams',
    'doc (cuBLAS); for TensorRT-LLM inferred',
  ),
  variable('NVIDIA_TF32_OVERRIDE', '`0`, or for ever the same', 'round matrix products to TF32', 'doc (CUDA)'),
  {
    id: 'cache-config',
    place: 'command line',
    setting: '`--cache-config`',
    deterministic: 'absent (default)',
    effect: 'give a stored answer, for models whose configuration enables it',
    how: 'Start the server without it.',
    level: 'warning',
    known: 'doc (`docs/user_guide/response_cache.md`)',
  },
  {
    id: 'rate-limit',
    place: 'command line',
    setting: '`--rate-limit`',
    deterministic: '`off` (default)',
    effect: 'hold requests back by the load of other models',
    how: 'Start the server without it.',
    level: 'warning',
    known: 'inferred',
  },
  {
    id: 'client-concurrency',
    place: 'client',
    setting: 'requests at a time',
    deterministic: '1 for goldens; more on purpose only',
    effect: 'mix requests that overlap in one step of the engine',
    how: 'Record goldens with one request at a time.',
    level: 'warning',
    known: 'doc (`gpt-attention.md`)',
  },
];
