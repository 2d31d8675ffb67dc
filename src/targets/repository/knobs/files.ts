/** What `1/model.yaml` of the LLM API's model sets, and what an engine was built with. */
import type { RepositoryRelease } from '#core/profile/index.ts';
import type { Path } from '../positioned.ts';
import type { FileKnob, Sighting } from './knob.ts';

type Value = Readonly<Record<string, unknown>>;
type Seen = Sighting<Path> & { readonly set?: unknown };

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((one, step) => (typeof one === 'object' && one !== null ? (one as Value)[step] : undefined), value);
}

/** From 1.0 on these stand beside the others; 0.19 had them in a part of their own, and off. */
const isOld = (release: RepositoryRelease): boolean => release.id === '0.19';

interface Row extends Omit<FileKnob, 'place' | 'look' | 'setting'> {
  readonly path: Path;
  readonly differs: (value: unknown, root: Value) => boolean;
  /** What 1.x does without it. */
  readonly unset?: unknown;
  readonly set?: unknown;
}

function yaml({ path, differs, unset, set, ...described }: Row): FileKnob {
  return {
    ...described,
    place: 'model.yaml',
    setting: `\`${path.join('.')}\``,
    look: (root, release) => {
      const written = at(root, path);
      const inForce = written === undefined && !isOld(release) ? unset : written;
      if (inForce === undefined || !differs(inForce, root)) return [];
      const shown = JSON.stringify(inForce);
      const seen: Seen = { path, found: written === undefined ? `unset, and ${release.id} then has ${shown}` : shown };
      return [set === undefined ? seen : { ...seen, set }];
    },
  };
}

const INFERRED = 'source (`tensorrt_llm/llmapi/llm_args.py`); the effect inferred';

export const LLMAPI_KNOBS: readonly FileKnob[] = [
  yaml({
    id: 'llmapi-overlap',
    path: ['disable_overlap_scheduler'],
    deterministic: '`true`',
    effect: 'schedule the next step before this one ends, and compute a token too many',
    how: 'Write disable_overlap_scheduler: true.',
    level: 'warning',
    known: 'doc (release notes 0.20); the effect inferred',
    differs: (value) => value !== true,
    unset: false,
    set: true,
  }),
  yaml({
    id: 'llmapi-autotuner',
    path: ['enable_autotuner'],
    deterministic: '`false`',
    effect: 'pick kernels by their timing at the start, so that a restart may answer otherwise',
    how: 'Write enable_autotuner: false.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value !== false,
    unset: true,
    set: false,
  }),
  yaml({
    id: 'llmapi-block-reuse',
    path: ['kv_cache_config', 'enable_block_reuse'],
    deterministic: '`false`',
    effect: 'compute only the uncached tail of a prompt that came before, with other kernel shapes',
    how: 'Write kv_cache_config: { enable_block_reuse: false }.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value !== false,
    unset: true,
    set: false,
  }),
  yaml({
    id: 'llmapi-chunked-prefill',
    path: ['enable_chunked_prefill'],
    deterministic: '`false` (default)',
    effect: 'cut a prompt into chunks, which are summed in another order',
    how: 'Write enable_chunked_prefill: false.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value === true,
    set: false,
  }),
  yaml({
    id: 'llmapi-cuda-graphs',
    path: ['cuda_graph_config'],
    deterministic: '`null`',
    effect: 'pad batches to the sizes of recorded graphs, which may select other kernels',
    how: 'Write cuda_graph_config: null.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value !== null,
    unset: 'graphs on',
    set: null,
  }),
  yaml({
    id: 'llmapi-compile',
    path: ['torch_compile_config'],
    deterministic: 'unset (default)',
    effect: 'run kernels that a compiler made at the start',
    how: 'Delete torch_compile_config.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value !== null,
  }),
  yaml({
    id: 'llmapi-allreduce',
    path: ['allreduce_strategy'],
    deterministic: 'one strategy, where there are several GPUs',
    effect: 'choose the order of sums over GPUs by message size',
    how: 'Write allreduce_strategy: NCCL, or another fixed one.',
    level: 'warning',
    known: INFERRED,
    differs: (value, root) => value === 'AUTO' && Number(root['tensor_parallel_size'] ?? 1) > 1,
    unset: 'AUTO',
  }),
  yaml({
    id: 'llmapi-speculative',
    path: ['speculative_config'],
    deterministic: 'unset (default)',
    effect: 'verify several tokens per step with other shapes',
    how: 'Delete speculative_config.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value !== null,
  }),
  yaml({
    id: 'llmapi-dynamic-batch',
    path: ['scheduler_config', 'dynamic_batch_config'],
    deterministic: 'unset (default)',
    effect: 'tune batch sizes by the load',
    how: 'Delete dynamic_batch_config.',
    level: 'warning',
    known: INFERRED,
    differs: (value) => value !== null,
  }),
  yaml({
    id: 'llmapi-attention',
    path: ['attn_backend'],
    deterministic: 'for ever the same',
    effect: 'run other attention kernels: other numbers, though always the same ones',
    how: 'Record attn_backend with the goldens.',
    level: 'note',
    known: INFERRED,
    differs: () => true,
  }),
  yaml({
    id: 'llmapi-parallel-layout',
    path: ['tensor_parallel_size'],
    deterministic: 'for ever the same',
    effect: 'change partition sizes and the order of the all-reduce: goldens belong to one layout',
    how: 'Record the layout with the goldens.',
    level: 'note',
    known: 'inferred',
    differs: (value) => Number(value) > 1,
  }),
];

const PLUGINS: Path = ['build_config', 'plugin_config'];

function build(
  id: string,
  path: Path,
  level: FileKnob['level'],
  text: Pick<FileKnob, 'deterministic' | 'effect' | 'known'>,
  differs: (value: unknown) => boolean,
): FileKnob {
  return {
    id,
    place: 'engine config.json',
    setting: `\`${path.at(-1)}\``,
    how: 'Build the engine again without it, or keep one engine file for ever and record its hash.',
    level,
    ...text,
    look: (root) => {
      const value = at(root, path);
      return value === undefined || value === null || !differs(value) ? [] : [{ path, found: JSON.stringify(value) }];
    },
  };
}

export const BUILD_KNOBS: readonly FileKnob[] = [
  build(
    'multiple-profiles',
    [...PLUGINS, 'multiple_profiles'],
    'error',
    {
      deterministic: '`false` (default)',
      effect: 'switch profiles and kernels with the load, so that identical prompts differ',
      known: 'doc (`useful-build-time-flags.md`)',
    },
    (value) => value === true,
  ),
  build(
    'paged-context-fmha',
    [...PLUGINS, 'use_paged_context_fmha'],
    'note',
    {
      deterministic: 'for ever the same',
      effect: 'run other context kernels, and make reuse and chunks possible',
      known: 'doc (release notes 0.17)',
    },
    (value) => value === true,
  ),
  build(
    'gemm-plugin',
    [...PLUGINS, 'gemm_plugin'],
    'note',
    { deterministic: 'for ever the same', effect: 'use cuBLASLt in place of tactics of TensorRT: other numbers', known: 'source' },
    (value) => typeof value === 'string',
  ),
  build(
    'quantisation',
    ['pretrained_config', 'quantization', 'quant_algo'],
    'note',
    { deterministic: 'for ever the same', effect: 'bring more near ties, at which noise decides', known: 'inferred' },
    () => true,
  ),
  build(
    'cache-quantisation',
    ['pretrained_config', 'quantization', 'kv_cache_quant_algo'],
    'note',
    { deterministic: 'for ever the same', effect: 'keep rounded keys and values: more near ties', known: 'inferred' },
    () => true,
  ),
];
