/** `1/model.yaml` of the LLM API's model: what its LLM is made with, and what Triton is told of it. */
import type { RepositoryRelease } from '#core/profile/index.ts';
import { stringify } from 'yaml';
import type { RepositoryOptions } from './plan.ts';

/** 0.19 kept the settings of the PyTorch back end in a part of their own, and overlapped nothing by itself. */
export function llmapiYaml(options: Pick<RepositoryOptions, 'engine' | 'tokenizer' | 'set'>, release: RepositoryRelease): string {
  const number = (name: string): number => Number(options.set[name] ?? 1);
  const torch =
    release.id === '0.19'
      ? { pytorch_backend_config: { use_cuda_graph: false, enable_overlap_scheduler: false } }
      : { disable_overlap_scheduler: true, enable_autotuner: false, cuda_graph_config: null };
  const settings = {
    model: options.engine,
    tokenizer: options.tokenizer,
    backend: 'pytorch',
    tensor_parallel_size: number('tensor_parallel_size'),
    pipeline_parallel_size: number('pipeline_parallel_size'),
    ...torch,
    enable_chunked_prefill: false,
    kv_cache_config: { enable_block_reuse: false },
    triton_config: { max_batch_size: 0, decoupled: options.set['decoupled_mode'] !== 'false' },
  };
  return `# Made by \`lockstep repository create\`: no overlap of steps, no kernels chosen by timing, no padding to recorded graphs,\n# no prompt cut into pieces, no reuse of blocks. docs/determinism.md says what each of them can change.\n${stringify(settings)}`;
}
