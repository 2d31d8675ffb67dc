import { existsSync } from 'node:fs';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { connect } from '#wire/clients/index.ts';
import { readEngineFolder } from './repository/index.ts';
import type { Target } from './types.ts';

const WITHIN_MS = 10_000;

/**
 * The identity of a target and, of a Triton, what it says that it loaded: each model's configuration, the engine that
 * it names, where that folder is on this host, and the parallel layout that the engine was built for.
 *
 * Errors: `interrupted`. What cannot be read stays "unknown" or is left out.
 */
export async function identityAsLoaded(target: Target, signal?: AbortSignal): Promise<Readonly<Record<string, string>>> {
  if (target.endpoints.http === '') return target.identity;
  const loaded = await withDeadline({ ms: WITHIN_MS, what: 'the server to say what it loaded', signal }, (inner) =>
    readLoaded(target, inner),
  ).catch((thrown: unknown) => {
    const error = LockstepError.from(thrown);
    if (error.code === 'interrupted') throw error;
    return {};
  });
  // What the target itself knows was looked at from nearer.
  const known = Object.entries(target.identity).filter(([key, value]) => value !== UNKNOWN || !(key in loaded));
  return { ...Object.fromEntries(known), ...Object.fromEntries(Object.entries(loaded).filter(([key]) => !known.some(([k]) => k === key))) };
}

async function readLoaded(target: Target, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  await using clients = connect(target.endpoints);
  const options = { signal, deadlineMs: WITHIN_MS };
  const index = await clients.http.repositoryIndex({ ...options, readyOnly: true });
  const names = index.map(({ name }) => name).toSorted();
  const configs = await Promise.all(
    names.map(async (name) => [name, await clients.http.modelConfig(name, '', options).catch(() => undefined)] as const),
  );
  const hashes = configs.map(([name, config]) => [`config of ${name}`, config === undefined ? UNKNOWN : shortHash(canonicalJson(config))]);
  const parameters = configs.find(([name]) => name === 'tensorrt_llm')?.[1]?.parameters ?? {};
  const engine = ['gpt_model_path', 'engine_dir', 'encoder_model_path']
    .map((key) => parameters[key]?.string_value ?? '')
    .find((path) => path !== '' && existsSync(path));
  return { served: names.join(' '), ...Object.fromEntries(hashes), ...(engine === undefined ? {} : engineParts(engine)) };
}

function engineParts(folder: string): Readonly<Record<string, string>> {
  try {
    const { config, version, tensorParallel, pipelineParallel, worldSize } = readEngineFolder(folder);
    return {
      engine: shortHash(canonicalJson(config.value)),
      'engine built by': version === undefined ? UNKNOWN : `TensorRT-LLM ${version}`,
      parallel: `tensor ${tensorParallel}, pipeline ${pipelineParallel}, ranks ${worldSize}`,
    };
  } catch {
    // The folder on this host need not be the one that the server sees.
    return {};
  }
}
