import type { InstanceGroup, ModelConfig } from './model-config.ts';

/**
 * What the server fills in before it serves a config (core `src/model_config_utils.cc`): version policy, preferred
 * batch sizes, instance groups, pinned memory, the Python backend's file name; ensembles keep only the policy.
 */
export function normaliseConfig(config: ModelConfig): ModelConfig {
  const isEnsemble = config.platform === 'ensemble';
  const out: Record<string, unknown> = { ...config };
  if (Object.keys(config.version_policy ?? {}).length === 0) out['version_policy'] = { latest: { num_versions: 1 } };
  if (config.dynamic_batching !== undefined && config.dynamic_batching.preferred_batch_size.length === 0 && config.max_batch_size > 0) {
    out['dynamic_batching'] = { ...config.dynamic_batching, preferred_batch_size: [config.max_batch_size] };
  }
  if (!isEnsemble) {
    out['optimization'] = {
      // Print order of the fields; those that were set keep their place.
      ...pick(config.optimization, ['graph']),
      priority: 'PRIORITY_DEFAULT',
      ...pick(config.optimization, ['priority', 'cuda', 'execution_accelerators']),
      input_pinned_memory: { enable: true },
      output_pinned_memory: { enable: true },
      gather_kernel_buffer_threshold: 0,
      eager_batching: false,
      ...config.optimization,
    };
    out['instance_group'] =
      config.instance_group.length === 0 ? [defaultGroup(config.name)] : config.instance_group.map((g, i) => group(config.name, g, i));
    if (config.backend === 'python' && config.default_model_filename === '') out['default_model_filename'] = 'model.py';
  }
  return inOrder(out);
}

function pick(from: Readonly<Record<string, unknown>> | undefined, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((k) => from?.[k] !== undefined).map((k) => [k, from?.[k]]));
}

function defaultGroup(name: string): InstanceGroup {
  return { name, kind: 'KIND_CPU', count: 1, gpus: [], secondary_devices: [], profile: [], passive: false, host_policy: '' };
}

/** There is no GPU here: KIND_AUTO becomes KIND_CPU. */
function group(model: string, g: InstanceGroup, index: number): InstanceGroup {
  return {
    ...g,
    name: g.name === '' ? `${model}_${index}` : g.name,
    kind: g.kind === 'KIND_AUTO' ? 'KIND_CPU' : g.kind,
    count: g.count === 0 ? 1 : g.count,
  };
}

const ORDER = [
  'name',
  'platform',
  'backend',
  'runtime',
  'version_policy',
  'max_batch_size',
  'input',
  'output',
  'batch_input',
  'batch_output',
  'optimization',
  'dynamic_batching',
  'sequence_batching',
  'ensemble_scheduling',
  'instance_group',
  'default_model_filename',
  'cc_model_filenames',
  'metric_tags',
  'parameters',
  'model_warmup',
  'model_operations',
  'model_transaction_policy',
  'model_repository_agents',
  'response_cache',
  'model_metrics',
];

function inOrder(config: Record<string, unknown>): ModelConfig {
  return Object.fromEntries(ORDER.filter((k) => config[k] !== undefined).map((k) => [k, config[k]])) as unknown as ModelConfig;
}
