import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { shownArguments } from '#core/config/index.ts';
import { UNKNOWN, checkpointIdentity, configsIdentity, modelCodeIdentity } from '#core/identity/index.ts';
import { type Mounts, envNames, serverVersion, tritonName } from '../tritonserver/index.ts';
import type { EngineFolder } from './engine-folder.ts';
import type { Image } from './image.ts';
import type { ImageFacts } from './probe.ts';
import type { DockerSettings } from './settings.ts';

export interface IdentityParts {
  readonly image: Image;
  readonly facts: ImageFacts;
  readonly engineFolder: EngineFolder | undefined;
  readonly mounts: Mounts;
  readonly settings: DockerSettings;
  readonly gpus: string;
  readonly ulimits: readonly string[];
  readonly http: string;
}

/**
 * Everything of a container that could change an answer; unknown stays "unknown". Of the environment the names alone, and of
 * arguments that carry a key the part before it: the rest may be secret.
 */
export async function identify(parts: IdentityParts): Promise<Readonly<Record<string, string>>> {
  const { image, facts, settings, engineFolder, mounts } = parts;
  const label = (name: string) => image.labels[name] ?? image.env[name];
  const weights = mounts.all.find(({ source }) => existsSync(join(source, 'model.safetensors')));
  const tokenizer = mounts.all.find(({ source }) => existsSync(join(source, 'tokenizer.json')));
  return {
    server: settings.frontend === 'openai' ? 'tritonserver behind the OpenAI front end' : 'tritonserver',
    // NVIDIA's images have both of one release.
    triton: tritonName(await serverVersion(parts.http), image.labels['lockstep.front-ends']),
    image: image.reference,
    ...(image.reference === image.id ? {} : { 'image id': image.id }),
    ...(image.digests.length === 0 ? {} : { 'image digests': image.digests.join(' ') }),
    container: label('NVIDIA_TRITON_SERVER_VERSION') ?? UNKNOWN,
    'tensorrt-llm': facts.tensorrtLlm,
    'model code': modelCodeIdentity(settings.repository),
    weights: weights === undefined ? UNKNOWN : checkpointIdentity(weights.source).weights,
    tokenizer: tokenizer === undefined ? UNKNOWN : checkpointIdentity(tokenizer.source).tokenizer,
    configs: configsIdentity(settings.repository),
    engine: engineFolder === undefined ? 'none' : `${engineFolder.configHash}, TensorRT-LLM ${engineFolder.version}`,
    gpu: facts.gpus.length > 0 ? facts.gpus.join('; ') : parts.gpus === 'none' ? 'none' : UNKNOWN,
    ...(settings.env.length === 0 ? {} : { environment: envNames(settings.env).join(' ') }),
    ...(settings.serverArgs.length === 0 ? {} : { arguments: shownArguments(settings.serverArgs).join(' ') }),
    ulimits: parts.ulimits.join(' ') || "the engine's own",
    'shared memory': settings.shmSize,
  };
}
