import type { SlurmConfig } from '#core/config/index.ts';

/** What a job is submitted with and what it serves. */
export interface SlurmSettings extends SlurmConfig {
  /** Absolute folder with one folder per model, at the same place on the nodes. */
  readonly repository: string;
  /** Undefined: as many as the engine is built for. */
  readonly ranks?: number | undefined;
}
