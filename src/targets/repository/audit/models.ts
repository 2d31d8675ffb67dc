import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';

export interface ModelFile {
  readonly name: string;
  readonly folder: string;
  readonly file: string;
  readonly text: string;
  readonly config: ModelConfig;
}

/** The models of a repository by name. Errors: `repository-missing`, `config-malformed`. */
export function readModels(folder: string): readonly ModelFile[] {
  const missing = (what: string) =>
    new LockstepError('repository-missing', what, {
      hint: 'Give the folder that has one folder per model in it, such as `lockstep repository create` makes.',
    });
  if (!existsSync(folder)) throw missing(`there is no folder ${folder}`);
  if (!statSync(folder).isDirectory()) throw missing(`${folder} is a file, not a model repository`);
  const models = readdirSync(folder)
    .toSorted()
    .filter((name) => existsSync(join(folder, name, 'config.pbtxt')))
    .map((name) => {
      const file = join(folder, name, 'config.pbtxt');
      return { name, folder: join(folder, name), file, config: readModelConfig(file), text: readFileSync(file, 'utf8') };
    });
  if (models.length === 0) throw missing(`${folder} has no model: no folder in it has a config.pbtxt`);
  return models;
}
