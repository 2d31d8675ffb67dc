import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkpointIdentity, configsIdentity, modelCodeIdentity, switchesOf, UNKNOWN } from '#core/identity/index.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import { tritonName } from '../tritonserver/index.ts';
import type { TritonLayout } from './layout.ts';

/** The checkpoint that the models of docker/models name, wherever their repository lies; undefined for other models. */
function checkpointOf(repository: string): string | undefined {
  for (const model of ['tensorrt_llm', 'llmapi']) {
    const file = join(repository, model, 'config.pbtxt');
    const folder = existsSync(file) ? readModelConfig(file).parameters['checkpoint_dir']?.string_value : undefined;
    if (folder !== undefined) return resolve(join(repository, model), folder);
  }
  return undefined;
}

/**
 * Everything of a CPU deployment that could change an answer: server, Python packages, configs, code, weights, tokenizer.
 * `version` is what the server said of itself.
 */
export function identify(layout: TritonLayout, repository: string, version: string): Readonly<Record<string, string>> {
  const checkpoint = checkpointOf(repository);
  return {
    server: 'tritonserver',
    triton: tritonName(version, layout.core?.frontEnds),
    ...(layout.core === undefined ? {} : { core: layout.core.origin }),
    ...(layout.wheelSha256 === undefined ? { program: layout.program } : { wheel: layout.wheelSha256.slice(0, 12) }),
    python: layout.python?.version ?? UNKNOWN,
    packages: layout.python?.packages ?? UNKNOWN,
    'model code': modelCodeIdentity(repository),
    arithmetic: 'float64, NumPy',
    ...(checkpoint === undefined ? { weights: UNKNOWN, tokenizer: UNKNOWN } : checkpointIdentity(checkpoint)),
    configs: configsIdentity(repository),
    switches: switchesOf(process.env),
    gpu: 'none',
  };
}
