/** Parameters of `tensorrt_llm` that decide how the engine runs, and the one of the BLS that brings a second engine. */
import type { RepositoryRelease } from '#core/profile/index.ts';
import type { PlaceStep } from '#wire/protocol/pbtxt-places.ts';
import type { ConfigKnob, ConfiguredModel, Role } from './knob.ts';

/** Undefined where it is missing, empty or an unfilled placeholder: all three are "unset" to every release. */
export function parameterOf({ config }: Pick<ConfiguredModel, 'config'>, key: string): string | undefined {
  const text = config.parameters[key]?.string_value.trim();
  return text === undefined || text === '' || text.startsWith('${') ? undefined : text;
}

const isTrue = (text: string): boolean => /^(true|1)$/i.test(text);
const isFalse = (text: string): boolean => /^(false|0)$/i.test(text);
const aboveZero = (text: string): boolean => Number(text) > 0;

interface Row extends Omit<ConfigKnob, 'place' | 'look' | 'setting'> {
  readonly key: string;
  readonly role?: Role;
  /** Whether a set value is another than the deterministic one. */
  readonly differs: (text: string) => boolean;
  /** What is in force without it; absent: the deterministic value. */
  readonly unset?: (release: RepositoryRelease) => string | undefined;
  readonly fix?: string;
}

function knob({ key, role = 'engine', differs, unset, fix, ...described }: Row): ConfigKnob {
  const path: readonly PlaceStep[] = ['parameters', { key }, 'value', 'string_value'];
  return {
    ...described,
    place: 'config.pbtxt',
    setting: `\`${key}\``,
    look: (model) => {
      if (model.role !== role) return [];
      const text = parameterOf(model, key);
      const inForce = text ?? unset?.(model.release);
      if (inForce === undefined || !differs(inForce)) return [];
      const found = text ?? `unset, and ${model.release.id} then has ${inForce}`;
      return [{ path, found, ...(fix === undefined ? {} : { edit: { kind: 'parameter', key, value: fix } as const }) }];
    },
  };
}

export const ENGINE_KNOBS: readonly ConfigKnob[] = [
  knob({
    id: 'kv-cache-reuse',
    key: 'enable_kv_cache_reuse',
    deterministic: '`false`',
    effect: 'compute only the uncached tail of a prompt that came before, with other kernel shapes: first and second answer can differ',
    how: 'Set enable_kv_cache_reuse to false; unset it is false up to 0.18 and true from 0.19 on.',
    level: 'warning',
    known: 'doc (`kv-cache-reuse.md`); the effect inferred; the defaults source (`model_instance_state.cc`)',
    differs: (text) => !isFalse(text),
    unset: (release) => (release.kvCacheReuse.value ? 'true' : undefined),
    fix: 'false',
  }),
  knob({
    id: 'kv-cache-host-memory',
    key: 'kv_cache_host_memory_bytes',
    deterministic: '0 (default)',
    effect: 'change when blocks survive, and so what is reused',
    how: 'Set kv_cache_host_memory_bytes to 0.',
    level: 'warning',
    known: 'inferred',
    differs: aboveZero,
    fix: '0',
  }),
  knob({
    id: 'chunked-context',
    key: 'enable_chunked_context',
    deterministic: '`false` (default)',
    effect: 'cut a prompt into chunks, which are summed in another order',
    how: 'Set enable_chunked_context to false.',
    level: 'warning',
    known: 'doc (release notes 0.16); the effect inferred',
    differs: isTrue,
    fix: 'false',
  }),
  knob({
    id: 'multi-block-mode',
    key: 'multi_block_mode',
    deterministic: '`false`',
    effect: 'split attention over thread blocks by a heuristic of load and length',
    how: 'Set multi_block_mode to false; unset it is true from 0.13 on.',
    level: 'warning',
    known: 'doc (`gpt-attention.md`, `docs/model_config.md`)',
    differs: (text) => !isFalse(text),
    unset: (release) => (release.multiBlockMode.value ? 'true' : undefined),
    fix: 'false',
  }),
  knob({
    id: 'scheduler-policy',
    key: 'batch_scheduler_policy',
    deterministic: '`guaranteed_no_evict` (default)',
    effect: 'pause a started request and compute it again',
    how: 'Set batch_scheduler_policy to guaranteed_no_evict.',
    level: 'warning',
    known: 'doc (`docs/model_config.md`); the effect inferred',
    differs: (text) => text !== 'guaranteed_no_evict',
    fix: 'guaranteed_no_evict',
  }),
  knob({
    id: 'cuda-graphs',
    key: 'cuda_graph_mode',
    deterministic: '`false` (default)',
    effect: 'pad batches to the shapes of recorded graphs, which may select other kernels',
    how: 'Set cuda_graph_mode to false.',
    level: 'warning',
    known: 'inferred',
    differs: isTrue,
    fix: 'false',
  }),
  knob({
    id: 'overlap',
    key: 'enable_trt_overlap',
    deterministic: '`false` (default)',
    effect: 'overlap two micro-batches, and so group requests in another way',
    how: 'Set enable_trt_overlap to false, or delete it.',
    level: 'warning',
    known: 'doc (`docs/model_config.md`)',
    differs: isTrue,
    fix: 'false',
  }),
  knob({
    id: 'speculative-decoding',
    key: 'decoding_mode',
    deterministic: 'none of `medusa`, `eagle`, `lookahead`, `redrafter`',
    effect: 'verify several tokens per step with other shapes, and end the last chunk otherwise',
    how: 'Leave decoding_mode unset, or set it to top_k_top_p.',
    level: 'warning',
    known: 'doc (`docs/model_config.md`); the effect inferred',
    differs: (text) => /medusa|eagle|lookahead|redrafter/i.test(text),
  }),
  knob({
    id: 'draft-model',
    key: 'tensorrt_llm_draft_model_name',
    role: 'bls',
    deterministic: 'unset (default)',
    effect: 'verify the tokens of a second engine where a request asks for it',
    how: 'Leave tensorrt_llm_draft_model_name unset.',
    level: 'warning',
    known: 'doc (`docs/model_config.md`); the effect inferred',
    differs: () => true,
  }),
  knob({
    id: 'attention-window',
    key: 'max_attention_window_size',
    deterministic: 'unset, or for ever the same',
    effect: 'change attention itself: other answers, though always the same ones',
    how: 'Leave max_attention_window_size unset, or record it with the goldens.',
    level: 'note',
    known: 'doc (`docs/model_config.md`)',
    differs: () => true,
  }),
  knob({
    id: 'sink-tokens',
    key: 'sink_token_length',
    deterministic: 'unset, or for ever the same',
    effect: 'change attention itself: other answers, though always the same ones',
    how: 'Leave sink_token_length unset, or record it with the goldens.',
    level: 'note',
    known: 'doc (`docs/model_config.md`)',
    differs: () => true,
  }),
  knob({
    id: 'fmha-fp32',
    key: 'enable_context_fmha_fp32_acc',
    deterministic: 'for ever the same; `true` is more robust',
    effect: 'accumulate attention in float32: other numbers',
    how: 'Record enable_context_fmha_fp32_acc with the goldens.',
    level: 'note',
    known: 'doc (`docs/model_config.md`)',
    differs: () => true,
  }),
  knob({
    id: 'beams',
    key: 'max_beam_width',
    deterministic: '1, where nobody asks for beams',
    effect: 'let requests ask for beams, which is no greedy search and runs other kernels',
    how: 'Set max_beam_width to 1.',
    level: 'note',
    known: 'doc (`docs/model_config.md`)',
    differs: (text) => Number(text) > 1,
  }),
  knob({
    id: 'cache-size',
    key: 'max_tokens_in_paged_kv_cache',
    deterministic: 'unset, or large enough',
    effect: 'run out of blocks under load, so that requests wait or are paused',
    how: 'Leave max_tokens_in_paged_kv_cache unset, or keep the load below it.',
    level: 'note',
    known: 'doc (`docs/model_config.md`)',
    differs: () => true,
  }),
  knob({
    id: 'weights-on-gpu',
    key: 'gpu_weights_percent',
    deterministic: '1.0 (default)',
    effect: 'stream weights while it computes: time, as far as is known no numbers',
    how: 'Leave gpu_weights_percent unset.',
    level: 'note',
    known: 'inferred',
    differs: (text) => Number(text) < 1,
  }),
  knob({
    id: 'log-prob-norm',
    key: 'normalize_log_probs',
    deterministic: '`true` (default)',
    effect: 'give other log-probabilities; tokens stay',
    how: 'Set normalize_log_probs to true.',
    level: 'note',
    known: 'doc (`docs/model_config.md`)',
    differs: isFalse,
  }),
  knob({
    id: 'lora-prefetch',
    key: 'lora_prefetch_dir',
    deterministic: 'unset, or for ever the same',
    effect: 'answer the first request of an adapter on another path than the later ones',
    how: 'Leave lora_prefetch_dir unset, or record it with the goldens.',
    level: 'note',
    known: 'inferred',
    differs: () => true,
  }),
  knob({
    id: 'parallel-layout',
    key: 'gpu_device_ids',
    deterministic: 'for ever the same GPUs',
    effect: 'change partition sizes and the order of the all-reduce: goldens belong to one layout',
    how: 'Record the layout with the goldens; compare only answers of one layout.',
    level: 'note',
    known: 'inferred',
    differs: (text) => /[,;]/.test(text),
  }),
  knob({
    id: 'inflight-batching',
    key: 'gpt_model_type',
    deterministic: 'for ever the same; requests one at a time',
    effect: 'compute prompts and answers of different requests in one step, with other matrix shapes',
    how: 'Ask one request at a time where answers must be equal bit for bit; V1 batches too.',
    level: 'note',
    known: 'doc (`gpt-attention.md`)',
    differs: (text) => /inflight/i.test(text),
  }),
];
