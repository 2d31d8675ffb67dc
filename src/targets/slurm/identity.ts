import { existsSync } from 'node:fs';
import { UNKNOWN, checkpointIdentity, configsIdentity, modelCodeIdentity } from '#core/identity/index.ts';
import { envNames, serverVersion } from '../tritonserver/index.ts';
import { identify as identifyProcess, type TritonLayout } from '../process/index.ts';
import type { NodeFacts } from './job-folder.ts';
import { slurm } from './slurm-command.ts';
import type { SlurmSettings } from './settings.ts';

export interface IdentityParts {
  readonly settings: SlurmSettings;
  readonly layout: TritonLayout | undefined;
  readonly facts: NodeFacts;
  readonly ranks: number;
  readonly http: string;
}

/** Everything of a job that could change an answer; unknown stays "unknown". Of the environment the names alone. */
export async function identify({ settings, layout, facts, ranks, http }: IdentityParts): Promise<Readonly<Record<string, string>>> {
  const { repository, tokenizer } = settings;
  const version = await serverVersion(http);
  const served =
    layout === undefined
      ? {
          server: 'tritonserver',
          triton: version,
          image: settings.image ?? UNKNOWN,
          container: facts.container || UNKNOWN,
          'model code': modelCodeIdentity(repository),
          weights: UNKNOWN,
          tokenizer: tokenizer !== undefined && existsSync(tokenizer) ? checkpointIdentity(tokenizer).tokenizer : UNKNOWN,
          configs: configsIdentity(repository),
        }
      : identifyProcess(layout, repository, version);
  return {
    ...served,
    ...(facts.tensorrtLlm === '' ? {} : { 'tensorrt-llm': facts.tensorrtLlm }),
    switches: facts.switches.join(' ') || 'none',
    gpu: facts.gpus.length > 0 ? facts.gpus.join('; ') : 'none',
    ...(ranks > 1 ? { ranks: `${ranks} on ${settings.nodes === 1 ? '1 node' : `${settings.nodes} nodes`}` } : {}),
    ...(settings.env.length === 0 ? {} : { environment: envNames(settings.env).join(' ') }),
    slurm: (await slurm('scontrol', ['--version'])).trim(),
    node: facts.node,
  };
}
