import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { normaliseConfig } from '#wire/protocol/normalise-config.ts';
import { parseConfigJson } from '#wire/protocol/config-json.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';

/** A model as it lies in the repository. */
export interface RepositoryModel {
  readonly name: string;
  readonly directory: string;
  /** Version folders that the version policy selects, ascending. */
  readonly versions: readonly number[];
  readonly config: ModelConfig;
}

/** Changes when the config or a version folder of a model changes. */
export function repositoryStamp(repository: string, name: string): string {
  const directory = join(repository, name);
  if (!existsSync(join(directory, 'config.pbtxt'))) return '';
  return [join(directory, 'config.pbtxt'), ...versionFolders(directory).map((v) => join(directory, String(v)))]
    .map((path) => `${path}@${statSync(path).mtimeMs}`)
    .join();
}

/** Names of the folders that look like models, sorted. */
export function listModels(repository: string): string[] {
  return readdirSync(repository, { withFileTypes: true })
    .filter((entry) => statSync(join(repository, entry.name)).isDirectory())
    .map((entry) => entry.name)
    .filter((name) => existsSync(join(repository, name, 'config.pbtxt')))
    .sort();
}

/**
 * Reads one model, or undefined when the repository has none of that name ("failed to poll").
 *
 * `override` is the JSON text of a load request's `config`. Errors: `config-malformed`.
 */
export function readModel(repository: string, name: string, override?: string): RepositoryModel | undefined {
  const directory = join(repository, name);
  const file = join(directory, 'config.pbtxt');
  if (!/^[^/\\]+$/.test(name) || !existsSync(file)) return undefined;
  const parsed = override === undefined ? readModelConfig(file) : parseConfigJson(override);
  const config = normaliseConfig({ ...parsed, name: parsed.name === '' ? name : parsed.name });
  return { name, directory, versions: selectVersions(config, versionFolders(directory)), config };
}

function versionFolders(directory: string): number[] {
  return readdirSync(directory)
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

function selectVersions(config: ModelConfig, present: readonly number[]): number[] {
  const policy = config.version_policy as { latest?: { num_versions: number }; all?: object; specific?: { versions: number[] } };
  if (policy.all !== undefined) return [...present];
  if (policy.specific !== undefined) return present.filter((v) => policy.specific?.versions.includes(v));
  return present.slice(-(policy.latest?.num_versions || 1));
}
