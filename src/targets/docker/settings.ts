import type { DockerConfig } from '#core/config/index.ts';

/** What a container is started with and what it serves. */
export interface DockerSettings extends DockerConfig {
  readonly image: string;
  /** Absolute folder with one folder per model. */
  readonly repository: string;
}
