import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';
import { readEngineConfig } from '../repository/index.ts';

/** What an engine folder says of itself in its config.json. */
export interface EngineFolder {
  /** Of the TensorRT-LLM that built it; "unknown" where it does not say. */
  readonly version: string;
  /** Ranks that it needs. */
  readonly worldSize: number;
  /** Of the whole config.json. */
  readonly configHash: string;
}

/** Errors: those of `readEngineConfig`. */
export function readEngineFolder(folder: string): EngineFolder {
  const { version, worldSize, config } = readEngineConfig(folder);
  return { version: version ?? UNKNOWN, worldSize, configHash: shortHash(canonicalJson(config.value)) };
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
