import { projectVersion } from '#core/config/index.ts';
import { checkpointIdentity, configsIdentity } from '#core/identity/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { EmbeddedOptions } from './options.ts';

/** Everything about this server that could change an answer. */
export function embeddedIdentity(options: EmbeddedOptions, profile: ReleaseProfile): Readonly<Record<string, string>> {
  return {
    server: `lockstep embedded ${projectVersion()}`,
    triton: profile.core.serverVersion.value,
    generation: profile.models.id,
    frontend: profile.openai.id,
    profile: profile.id,
    engine: options.engine,
    arithmetic: options.reduction === 'batch' ? 'float32, order depends on the batch' : 'float64',
    ...checkpointIdentity(options.checkpoint),
    configs: configsIdentity(options.repository),
    faults: options.faults.length === 0 ? 'none' : options.faults.join(', '),
    gpu: 'none',
  };
}
