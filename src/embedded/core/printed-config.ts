import type { CoreProfile } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';

/** A configuration as a core of this release prints it: with a field that releases up to 2.51 do not know (docs/observed.md#triton-by-release). */
export function printedConfig(config: ModelConfig, { configFields }: CoreProfile): ModelConfig {
  const { ensemble_scheduling: scheduling } = config;
  if (scheduling === undefined || !configFields.value.includes('max_inflight_requests')) return config;
  return { ...config, ensemble_scheduling: { ...scheduling, max_inflight_requests: 0 } };
}
