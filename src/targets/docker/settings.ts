import type { DockerConfig } from '#core/config/index.ts';
import { connectEngine } from './engine.ts';
import { cpuImage } from './cpu-image.ts';

/** What a container is started with and what it serves. */
export interface DockerSettings extends DockerConfig {
  readonly image: string;
  /** Absolute folder with one folder per model. */
  readonly repository: string;
}

export interface DockerWish {
  readonly docker: DockerConfig;
  readonly repository: string;
  /** Absolute: what the run's clients use. */
  readonly tokenizer: string;
  /** Release of the CPU image, where no image was named. */
  readonly triton: string | undefined;
}

/** Without an image the CPU image is built. Errors: those of `cpuImage` and of `connectEngine`. */
export async function dockerSettings(
  { docker, repository, tokenizer, triton }: DockerWish,
  options: { readonly notice: (line: string) => void; readonly signal?: AbortSignal | undefined },
): Promise<DockerSettings> {
  const image = docker.image ?? (await cpuImage(await connectEngine(process.env, options.signal), { triton, ...options }));
  // The front end renders chats itself, and so needs the tokenizer whatever the repository names.
  return { ...docker, image, repository, tokenizer: docker.tokenizer ?? (docker.frontend === 'openai' ? tokenizer : undefined) };
}
