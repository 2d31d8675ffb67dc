import { join } from 'node:path';
import { checkpointIdentity, configsIdentity, modelCodeIdentity } from '#core/identity/index.ts';
import type { TritonLayout } from './layout.ts';

/** Where docker/models finds its checkpoint (parameter checkpoint_dir of tensorrt_llm). */
const CHECKPOINT = '../checkpoint/tiny';

/** Everything of a CPU deployment that could change an answer: server, Python packages, configs, code, weights, tokenizer. */
export function identify(layout: TritonLayout, repository: string): Readonly<Record<string, string>> {
  return {
    server: 'tritonserver',
    triton: layout.version,
    wheel: layout.wheelSha256.slice(0, 12),
    python: layout.python,
    packages: layout.packages,
    'model code': modelCodeIdentity(repository),
    arithmetic: 'float64, NumPy',
    ...checkpointIdentity(join(repository, CHECKPOINT)),
    configs: configsIdentity(repository),
    gpu: 'none',
  };
}
