import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';

/** What an engine folder says of itself in its config.json. */
export interface EngineFolder {
  /** Of the TensorRT-LLM that built it; "unknown" where it does not say. */
  readonly version: string;
  /** Ranks that it needs. */
  readonly worldSize: number;
  /** Of the whole config.json. */
  readonly configHash: string;
}

interface EngineConfig {
  readonly version?: unknown;
  readonly pretrained_config?: { readonly mapping?: { readonly world_size?: unknown } };
}

/**
 * Reads config.json, as trtllm-build writes it beside rank0.engine (TensorRT-LLM tensorrt_llm/builder.py, EngineConfig).
 *
 * Errors: `engine-config-missing`, `engine-config-malformed`.
 */
export function readEngineFolder(folder: string): EngineFolder {
  const path = join(folder, 'config.json');
  if (!existsSync(path)) {
    throw new LockstepError('engine-config-missing', `${folder} has no config.json, so it is no engine folder of trtllm-build`, {
      hint: 'Give --engine-dir the folder that holds rank0.engine and config.json.',
    });
  }
  let config: EngineConfig;
  const text = readFileSync(path, 'utf8');
  try {
    config = JSON.parse(text) as EngineConfig;
    if (typeof config !== 'object' || config === null || Array.isArray(config)) throw new Error('it is no object');
  } catch (thrown) {
    throw new LockstepError(
      'engine-config-malformed',
      `${path}: ${(thrown as Error).message}; expected the JSON object that trtllm-build wrote`,
      {
        hint: 'Build the engine again, or copy the whole folder from where it was built.',
        cause: thrown,
      },
    );
  }
  const worldSize = config.pretrained_config?.mapping?.world_size;
  return {
    version: typeof config.version === 'string' ? config.version : UNKNOWN,
    worldSize: typeof worldSize === 'number' ? worldSize : 1,
    configHash: shortHash(canonicalJson(config)),
  };
}

/**
 * Refuses an engine that the image's TensorRT-LLM cannot load: engines are for the very release that built them.
 *
 * Errors: `engine-version-differs`, `engine-ranks`. An unknown version on either side is no reason to refuse.
 */
export function refuseOtherEngine(folder: string, engine: EngineFolder, tensorrtLlm: string): void {
  if (engine.worldSize > 1) {
    throw new LockstepError('engine-ranks', `the engine in ${folder} needs ${engine.worldSize} ranks, and target docker starts one`, {
      hint: 'Start it with launch_triton_server.py in the container, and use --target external.',
    });
  }
  if (engine.version === UNKNOWN || tensorrtLlm === UNKNOWN || engine.version === tensorrtLlm) return;
  throw new LockstepError(
    'engine-version-differs',
    `the engine in ${folder} was built by TensorRT-LLM ${engine.version}, and the image has ${tensorrtLlm}`,
    { hint: `Build the engine again with trtllm-build of this image, or name an image with TensorRT-LLM ${engine.version}.` },
  );
}
