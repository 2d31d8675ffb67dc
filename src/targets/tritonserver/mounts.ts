import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { isAbsolute, join, posix } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import { modelFolders } from './model-folders.ts';

/** A folder of this host inside the container, read-only. */
export interface Mount {
  readonly source: string;
  readonly target: string;
}

export interface Folders {
  readonly repository: string;
  readonly engineDir: string | undefined;
  readonly tokenizer: string | undefined;
}

export interface Mounts {
  readonly all: readonly Mount[];
  /** Where the OpenAI front end finds the tokenizer, if one was given. */
  readonly tokenizer: string | undefined;
}

export const REPOSITORY_TARGET = '/models';
const ENGINE_TARGET = '/engine';
const TOKENIZER_TARGET = '/tokenizer';
/** Parameters of TensorRT-LLM's models that name a folder: upstream tools/fill_template.py fills them. */
const ENGINE_PARAMETERS = ['gpt_model_path', 'encoder_model_path', 'engine_dir'];
const TOKENIZER_PARAMETERS = ['tokenizer_dir'];

/**
 * Puts each folder where the repository's own configurations look for it, so that a repository works unchanged:
 * the engine where gpt_model_path names it, the tokenizer where tokenizer_dir does, and what a relative path leads to outside of
 * the repository, or a link of a model or version, where it leads to in the container. What no configuration names is at /engine and /tokenizer.
 *
 * Errors: `mount-source-missing`, before anything starts: an engine makes an empty folder of a mistyped path, and a
 * server with an empty repository is ready and serves nothing.
 */
export function planMounts({ repository, engineDir, tokenizer }: Folders): Mounts {
  const named = namedPaths(repository);
  const absolute = (keys: readonly string[]) =>
    new Set(named.filter(({ key, value }) => keys.includes(key) && isAbsolute(value)).map(({ value }) => posix.resolve(value)));
  const all: Mount[] = [{ source: existing(repository, 'model repository'), target: REPOSITORY_TARGET }];
  const add = (source: string, targets: ReadonlySet<string>, usual: string) => {
    const wanted = targets.size > 0 ? targets : [usual];
    for (const target of wanted) all.push({ source, target });
    return [...wanted][0];
  };
  if (engineDir !== undefined) add(existing(engineDir, 'engine folder'), absolute(ENGINE_PARAMETERS), ENGINE_TARGET);
  const at =
    tokenizer === undefined ? undefined : add(existing(tokenizer, 'tokenizer folder'), absolute(TOKENIZER_PARAMETERS), TOKENIZER_TARGET);
  for (const { model, value } of named.filter(({ value: path }) => path.startsWith('../../'))) {
    const target = posix.join(REPOSITORY_TARGET, model, value);
    const source = join(repository, model, value);
    if (existsSync(source) && !all.some((mount) => mount.target === target)) all.push({ source: realpathSync(source), target });
  }
  for (const mount of linkedOut(repository)) if (!all.some(({ target }) => target === mount.target)) all.push(mount);
  return { all, tokenizer: at };
}

/** Models and versions that are links: what they lead to must lie in the container where the link says. */
function linkedOut(repository: string): Mount[] {
  const models = readdirSync(repository, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const versions = models
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(repository, name), { withFileTypes: true }).map((entry) => ({ entry, folder: name })));
  return [...models.map((entry) => ({ entry, folder: '' })), ...versions]
    .filter(({ entry }) => entry.isSymbolicLink())
    .flatMap(({ entry, folder }) => {
      const link = join(repository, folder, entry.name);
      const target = posix.resolve(REPOSITORY_TARGET, folder, readlinkSync(link));
      // One that leads to nothing is the server's to refuse.
      return target.startsWith(`${REPOSITORY_TARGET}/`) || !existsSync(link) ? [] : [{ source: realpathSync(link), target }];
    });
}

function existing(path: string, what: string): string {
  if (existsSync(path)) return realpathSync(path);
  throw new LockstepError('mount-source-missing', `the ${what} ${path} does not exist`, {
    hint: 'Correct the path; nothing was started.',
  });
}

interface NamedPath {
  readonly model: string;
  readonly key: string;
  readonly value: string;
}

/** Parameters of all configurations, and the model of the LLM API's model.yaml. What cannot be read is the server's to refuse. */
function namedPaths(repository: string): NamedPath[] {
  return modelFolders(repository).flatMap((model) => {
    const found: NamedPath[] = [];
    try {
      const { parameters } = readModelConfig(join(repository, model, 'config.pbtxt'));
      for (const [key, value] of Object.entries(parameters ?? {})) found.push({ model, key, value: value.string_value });
    } catch {
      // No configuration, or one of a release that knows more fields.
    }
    try {
      const yaml = readFileSync(join(repository, model, '1', 'model.yaml'), 'utf8');
      const value = /^model:\s*["']?([^"'\s#]+)/m.exec(yaml)?.[1];
      if (value !== undefined) found.push({ model, key: 'engine_dir', value });
    } catch {
      // Only the LLM API's model has one.
    }
    return found;
  });
}
