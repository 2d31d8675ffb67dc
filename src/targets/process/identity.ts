import { join } from 'node:path';
import { checkpointIdentity, configsIdentity, modelCodeIdentity, UNKNOWN } from '#core/identity/index.ts';
import type { TritonLayout } from './layout.ts';

/** Where docker/models finds its checkpoint (parameter checkpoint_dir of tensorrt_llm). */
const CHECKPOINT = '../checkpoint/tiny';

/**
 * Everything of a CPU deployment that could change an answer: server, Python packages, configs, code, weights, tokenizer.
 * `version` is what the server said of itself.
 */
export function identify(layout: TritonLayout, repository: string, version: string): Readonly<Record<string, string>> {
  return {
    server: 'tritonserver',
    triton: version,
    ...(layout.wheelSha256 === undefined ? { program: layout.program } : { wheel: layout.wheelSha256.slice(0, 12) }),
    python: layout.python?.version ?? UNKNOWN,
    packages: layout.python?.packages ?? UNKNOWN,
    'model code': modelCodeIdentity(repository),
    arithmetic: 'float64, NumPy',
    ...checkpointIdentity(join(repository, CHECKPOINT)),
    configs: configsIdentity(repository),
    gpu: 'none',
  };
}
