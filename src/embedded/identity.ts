import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectVersion } from '#core/config/index.ts';
import { sha256, shortHash } from '#core/hash/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { EmbeddedOptions } from './options.ts';

/** Everything about this server that could change an answer. */
export function embeddedIdentity(options: EmbeddedOptions, profile: ReleaseProfile, tokenizerHash: string): Readonly<Record<string, string>> {
  return {
    server: `lockstep embedded ${projectVersion()}`,
    core: profile.core.serverVersion.value,
    models: profile.models.id,
    frontend: profile.openai.id,
    profile: profile.id,
    engine: options.engine,
    arithmetic: options.reduction === 'batch' ? 'float32, order depends on the batch' : 'float64',
    weights: sha256(readFileSync(join(options.checkpoint, 'model.safetensors'))).slice(0, 12),
    tokenizer: tokenizerHash.slice(0, 12),
    configs: configsHash(options.repository),
    faults: options.faults.length === 0 ? 'none' : options.faults.join(', '),
  };
}

function configsHash(repository: string): string {
  const models = readdirSync(repository).filter((name) => statSync(join(repository, name)).isDirectory()).sort();
  return shortHash(models.map((name) => readFileSync(join(repository, name, 'config.pbtxt'), 'utf8')).join('\0'));
}
