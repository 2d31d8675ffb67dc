import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '#core/hash/index.ts';
import type { TritonLayout } from './layout.ts';

const CHECKPOINT = '../checkpoint/tiny';

/** Everything of a CPU deployment that could change an answer: server, Python packages, configs, code, weights, tokenizer. */
export function identify(layout: TritonLayout, repository: string, models: readonly string[]): Readonly<Record<string, string>> {
  const paths = models.flatMap((model) => modelFiles(join(repository, model)).map((path) => join(model, path)));
  const configs = paths.filter((path) => path.endsWith('.pbtxt'));
  const code = paths.filter((path) => path.endsWith('.py'));
  return {
    server: 'tritonserver',
    triton: layout.version,
    wheel: layout.wheelSha256.slice(0, 12),
    python: layout.python,
    packages: layout.packages,
    configs: hashFiles(repository, configs),
    models: hashFiles(repository, code),
    checkpoint: hashFiles(join(repository, CHECKPOINT), ['config.json', 'model.safetensors']),
    tokenizer: hashFiles(join(repository, CHECKPOINT), ['tokenizer.json', 'tokenizer_config.json']),
    gpu: 'none',
  };
}

function modelFiles(folder: string): string[] {
  // A model that is not there is the server's to refuse, with its own words.
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(pbtxt|py)$/.test(path))
    .sort();
}

function hashFiles(folder: string, paths: readonly string[]): string {
  if (!paths.every((path) => existsSync(join(folder, path)))) return 'unknown';
  return shortHash(paths.map((path) => `${path} ${shortHash(readFileSync(join(folder, path)))}`).join('\n'));
}
