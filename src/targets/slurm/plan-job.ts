import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { servable } from '../model-repository.ts';
import { type TritonLayout, installedTriton, layOutTriton } from '../process/index.ts';
import type { SlurmSettings } from './settings.ts';

export interface JobPlan {
  readonly settings: SlurmSettings;
  /** The server of the nodes; undefined in a container. */
  readonly layout: TritonLayout | undefined;
}

/**
 * What a configuration asks for. Without an image the nodes run the server that is laid out here, or a program of theirs, which need
 * not be on this host. Errors: those of the layout.
 */
export async function planJob(
  { slurm, triton, worldSize }: Pick<RunConfig, 'slurm' | 'triton' | 'worldSize'>,
  repository: string,
  signal: AbortSignal | undefined,
): Promise<JobPlan> {
  if (slurm === undefined) throw new LockstepError('internal', 'target slurm has no settings');
  const ranks = worldSize === 1 ? undefined : worldSize;
  if (slurm.image !== undefined) return { settings: { ...slurm, ranks, repository }, layout: undefined };
  const settings = { ...slurm, ranks, repository: servable(repository) };
  if (triton === undefined || !isAbsolute(triton)) return { settings, layout: await layOutTriton({ version: triton, signal }) };
  const ofNodes = { program: triton, backends: undefined, caches: undefined, python: undefined, wheelSha256: undefined };
  return { settings, layout: existsSync(triton) ? installedTriton(triton) : ofNodes };
}
