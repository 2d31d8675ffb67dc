/** The knobs of a running server: its configurations as loaded, and where they are not what a repository says. */
import { REPOSITORY_1_X, type RepositoryRelease } from '#core/profile/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { HttpClient } from '#wire/clients/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import { normaliseConfig } from '#wire/protocol/normalise-config.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_KNOBS, type Knob } from '../knobs/index.ts';
import { releaseFor } from '../release-for.ts';
import type { Audit, Finding } from './finding.ts';
import { roleOf } from './model-role.ts';

const CALL_MS = 10_000;

export interface LoadedModel {
  readonly name: string;
  readonly url: string;
  readonly config: ModelConfig;
}

/** The configurations of all models that are ready. Errors: those of the HTTP client. */
export async function loadedModels(http: HttpClient, signal: AbortSignal): Promise<readonly LoadedModel[]> {
  const options = { signal, deadlineMs: CALL_MS };
  const index = await http.repositoryIndex({ ...options, readyOnly: true });
  const names = [...new Set(index.map(({ name }) => name))].toSorted();
  return Promise.all(
    names.map(async (name) => ({
      name,
      url: `${http.origin}/v2/models/${name}/config`,
      config: await http.modelConfig(name, '', options),
    })),
  );
}

/** @param repository absolute folder whose files the server should have loaded, or undefined */
export function auditLoaded(models: readonly LoadedModel[], asked: string | undefined, repository: string | undefined): Audit {
  const release: RepositoryRelease = asked === undefined ? REPOSITORY_1_X : releaseFor(asked, '--release');
  return {
    read: models.map(({ url }) => url),
    findings: models.flatMap((model) => [...ofLoaded(model, release), ...differences(model, repository)]),
  };
}

function ofLoaded({ name, url, config }: LoadedModel, release: RepositoryRelease): readonly Finding[] {
  const seen = { name, config, release, role: roleOf(config) };
  return CONFIG_KNOBS.flatMap((knob) =>
    knob.look(seen).map(({ found }): Finding => ({ knob, level: knob.level, model: name, found, where: { url } })),
  );
}

export const LOADED_DIFFERS: Knob = {
  id: 'loaded-differs',
  place: 'command line',
  setting: 'configuration as loaded',
  deterministic: 'what config.pbtxt says',
  effect: 'run another configuration than the files that were looked at',
  how: 'Load the model again, or restart the server on this repository.',
  level: 'error',
  known: 'observed: a load request can replace a configuration, and a file can change behind a server',
};

/** What a server fills in by itself is no difference; neither is a name that it gives to an instance group. */
const COMPARED = ['backend', 'max_batch_size', 'dynamic_batching', 'response_cache'] as const;

function differences({ name, config }: LoadedModel, repository: string | undefined): readonly Finding[] {
  const file = repository === undefined ? undefined : join(repository, name, 'config.pbtxt');
  if (file === undefined || !existsSync(file)) return [];
  const written = normaliseConfig(readModelConfig(file));
  const instances = (one: ModelConfig) => one.instance_group.reduce((sum, group) => sum + group.count, 0);
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ...COMPARED.map((key) => [key, written[key], config[key]] as const),
    ['instances', instances(written), instances(config)],
    // An ensemble's is what its steps are; the server writes it down.
    ...(roleOf(config) === 'ensemble'
      ? []
      : [['model_transaction_policy', written.model_transaction_policy, config.model_transaction_policy] as const]),
    ...[...new Set([...Object.keys(written.parameters), ...Object.keys(config.parameters)])].map(
      (key) => [`parameters.${key}`, written.parameters[key]?.string_value, config.parameters[key]?.string_value] as const,
    ),
  ];
  return pairs
    .filter(([, ours, theirs]) => canonicalJson(ours ?? null) !== canonicalJson(theirs ?? null))
    .map(([key, ours, theirs]): Finding => {
      const found = `${key} ${JSON.stringify(theirs) ?? 'absent'} as loaded, ${JSON.stringify(ours) ?? 'absent'} in the file`;
      return { knob: LOADED_DIFFERS, level: 'error', model: name, found, where: { file, line: 1 } };
    });
}
