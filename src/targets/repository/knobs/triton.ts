/** Knobs of Triton itself: instances, batching, caching. */
import type { PlaceStep } from '#wire/protocol/pbtxt-places.ts';
import type { ConfigKnob, Edit, Sighting } from './knob.ts';

type Seen = Sighting<readonly PlaceStep[]> & { readonly edit?: Edit };

const BATCHING: readonly PlaceStep[] = ['dynamic_batching'];

function removed(path: readonly PlaceStep[], found: string): Seen {
  return { path, found, edit: { kind: 'remove', path } };
}

export const TRITON_KNOBS: readonly ConfigKnob[] = [
  {
    place: 'config.pbtxt',
    id: 'instances',
    setting: '`instance_group` of every model',
    deterministic: 'one group, `count: 1`',
    effect: 'deliver the chunks of a stream in another order (postprocessing), or answer from different GPUs (engine)',
    how: 'Write one instance_group with count: 1 (fill_template: preprocessing_instance_count, postprocessing_instance_count, bls_instance_count).',
    level: 'error',
    known: 'observed (docs/observed.md#model-repository-1-x); triton-inference-server/tensorrtllm_backend#614',
    look: ({ config }) =>
      config.instance_group.flatMap((group, index): readonly Seen[] => {
        const path = ['instance_group', index];
        if (index > 0) return [removed(path, `group ${index + 1} of ${config.instance_group.length}`)];
        const gpus =
          group.gpus.length > 1
            ? [{ path: [...path, 'gpus', 1], found: `count ${group.count || 1} on each of ${group.gpus.length} GPUs` }]
            : [];
        if (group.count <= 1) return gpus;
        const count = [...path, 'count'];
        return [{ path: count, found: `count ${group.count}`, edit: { kind: 'scalar', path: count, value: '1' } }, ...gpus];
      }),
  },
  {
    place: 'config.pbtxt',
    id: 'dynamic-batching',
    setting: '`dynamic_batching`',
    deterministic: 'no such block',
    effect: 'hand several requests to a model together, so that one bad prompt fails its neighbours and the engine sees other batches',
    how: 'Delete the block dynamic_batching; the stock configurations have it.',
    level: 'error',
    known: 'observed (docs/observed.md#model-repository-1-x); source (`all_models/inflight_batcher_llm/*/config.pbtxt`)',
    look: ({ config }) => (config.dynamic_batching === undefined ? [] : [removed(BATCHING, 'present')]),
  },
  {
    place: 'config.pbtxt',
    id: 'chunk-order',
    setting: '`dynamic_batching.preserve_ordering` of postprocessing',
    deterministic: '`true`, where batching is kept',
    effect: 'deliver the chunks of a stream in another order: from server 25.06 on responses of such a step go through a thread pool',
    how: 'Delete the block dynamic_batching, or write preserve_ordering: true in it.',
    level: 'error',
    known: 'source (triton-inference-server/core b354d4d)',
    look: ({ config, role }) =>
      role === 'postprocessing' && config.dynamic_batching?.preserve_ordering === false
        ? [{ path: [...BATCHING, 'preserve_ordering'], found: 'false' }]
        : [],
  },
  {
    place: 'config.pbtxt',
    id: 'queue-delay',
    setting: '`dynamic_batching.max_queue_delay_microseconds`',
    deterministic: '0',
    effect: 'put requests that arrive near each other into one iteration of the engine',
    how: 'Delete the block dynamic_batching, or write max_queue_delay_microseconds: 0.',
    level: 'warning',
    known: 'doc (`docs/model_config.md`)',
    look: ({ config }) => {
      const delay = config.dynamic_batching?.max_queue_delay_microseconds ?? 0;
      return delay > 0 ? [{ path: [...BATCHING, 'max_queue_delay_microseconds'], found: String(delay) }] : [];
    },
  },
  {
    place: 'config.pbtxt',
    id: 'priorities',
    setting: '`dynamic_batching.priority_levels`',
    deterministic: '0',
    effect: 'let requests overtake each other',
    how: 'Delete the block dynamic_batching, or priority_levels in it.',
    level: 'warning',
    known: 'inferred',
    look: ({ config }) => {
      const levels = config.dynamic_batching?.priority_levels ?? 0;
      return levels > 0 ? [{ path: [...BATCHING, 'priority_levels'], found: String(levels) }] : [];
    },
  },
  {
    place: 'config.pbtxt',
    id: 'response-cache',
    setting: '`response_cache.enable`',
    deterministic: '`false` (default)',
    effect:
      'give a stored answer in place of a computed one, and so hide every difference; on postprocessing hits overtake misses, and parts of a stream come out of order',
    how: 'Delete the block response_cache, and start the server without --cache-config.',
    level: 'error',
    known: 'doc (`docs/user_guide/response_cache.md`); the order and the counts of hits observed on 2.51',
    look: ({ config }) => (config.response_cache?.enable === true ? [removed(['response_cache'], 'true')] : []),
  },
  {
    place: 'config.pbtxt',
    id: 'rate-limiter',
    setting: '`instance_group.rate_limiter`',
    deterministic: 'none (default)',
    effect: 'hold requests back by the load of other models',
    how: 'Delete rate_limiter, and start the server without --rate-limit.',
    level: 'warning',
    known: 'inferred',
    look: ({ config }) =>
      config.instance_group.flatMap((group, index) =>
        (group as { readonly rate_limiter?: unknown }).rate_limiter === undefined
          ? []
          : [removed(['instance_group', index, 'rate_limiter'], 'present')],
      ),
  },
  {
    place: 'config.pbtxt',
    id: 'sequence-batching',
    setting: '`sequence_batching`',
    deterministic: 'no such block (default)',
    effect: 'tie requests to slots that others share',
    how: 'Delete the block sequence_batching; none of the stock models has it.',
    level: 'warning',
    known: 'inferred',
    look: ({ config }) => (config.sequence_batching === undefined ? [] : [removed(['sequence_batching'], 'present')]),
  },
  {
    place: 'config.pbtxt',
    id: 'warm-up',
    setting: '`model_warmup`',
    deterministic: 'none (default)',
    effect: 'leave another state of cache and graphs than the one goldens were recorded on',
    how: 'Delete model_warmup, or keep it the same for ever.',
    level: 'warning',
    known: 'inferred',
    look: ({ config }) =>
      config.model_warmup.length === 0 ? [] : [{ path: ['model_warmup', 0], found: `${config.model_warmup.length} samples` }],
  },
  {
    place: 'config.pbtxt',
    id: 'max-batch-size',
    setting: '`max_batch_size`',
    deterministic: '1, where no request has several prompts',
    effect: 'let one request bring a batch, whose rows are computed together',
    how: 'Write max_batch_size: 1 where only single prompts are asked (fill_template: triton_max_batch_size).',
    level: 'note',
    known: 'inferred',
    look: ({ config, role }) =>
      role !== 'engine' || config.max_batch_size <= 1 ? [] : [{ path: ['max_batch_size'], found: String(config.max_batch_size) }],
  },
];
