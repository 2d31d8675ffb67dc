import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_REPOSITORY, PACKAGE_ROOT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { placeFolder, writeFileAtomic } from '#core/files/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { configsIdentity, modelCodeIdentity } from '#core/identity/index.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import { modelFolders } from './tritonserver/index.ts';
import { textEnsemble } from './text-ensemble.ts';

/**
 * The model repository with this checkpoint beside it, in the form that the core can serve.
 *
 * Its configurations name `../../checkpoint/tiny`, seen from a model's folder. For another checkpoint the repository is copied
 * to a place where that path leads to it, so that the configurations stay the same files and a server's identity differs
 * by weights and tokenizer alone. For a core whose ensembles need all of their outputs, a copy has an ensemble of text
 * (text-ensemble.ts). A copy stays in `.cache/models`, named after its content. Errors: `layout-failed`.
 */
export function modelRepository(checkpoint: string, { ensembleNeedsAllOutputs }: CoreProfile): string {
  const textOnly = ensembleNeedsAllOutputs.value;
  if (checkpoint === TINY_CHECKPOINT && !textOnly) return MODEL_REPOSITORY;
  const cache = join(PACKAGE_ROOT, '.cache', 'models');
  const name = shortHash(
    [
      checkpoint,
      configsIdentity(MODEL_REPOSITORY),
      modelCodeIdentity(MODEL_REPOSITORY),
      `text only: ${textOnly}`,
      'links as they are',
    ].join('\n'),
  );
  const folder = join(cache, name);
  const path = join(folder, 'models');
  if (existsSync(path)) return path;
  const draft = join(cache, `.copying-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(join(draft, 'checkpoint'), { recursive: true });
    // Links stay as they are: a container has the copy and not what it was made of.
    cpSync(MODEL_REPOSITORY, join(draft, 'models'), { recursive: true, verbatimSymlinks: true });
    if (textOnly) {
      const config = join(draft, 'models', 'ensemble', 'config.pbtxt');
      writeFileAtomic(config, textEnsemble(readFileSync(config, 'utf8')));
    }
    symlinkSync(checkpoint, join(draft, 'checkpoint', 'tiny'));
    placeFolder(draft, folder, () => (existsSync(path) ? path : undefined));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return path;
}

/** Gives the path back when it is a folder with at least one model. Errors: `repository-missing`. */
export function requireRepository(path: string): string {
  const hint = 'Give the folder that has one folder per model in it, such as `lockstep repository create` makes.';
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw new LockstepError('repository-missing', `there is no folder ${path}`, { hint });
  if (modelFolders(path).length === 0)
    throw new LockstepError('repository-missing', `${path} has no model: no folder in it has a config.pbtxt`, { hint });
  return path;
}

/**
 * The path under which a server of this host is given a repository: itself, or a link to it where it has a space, at which
 * the Python stubs of tritonserver 2.51 die while the server waits for ever (docs/observed.md#triton-2-51).
 *
 * Errors: `repository-unservable`.
 */
export function servable(path: string): string {
  if (!/\s/.test(path)) return path;
  const cache = join(PACKAGE_ROOT, '.cache', 'models');
  const link = join(cache, `link-${shortHash(path)}`);
  if (/\s/.test(link)) {
    throw new LockstepError('repository-unservable', `${path} has a space, and so has ${cache}, where a link to it would be`, {
      hint: 'Move the repository, or this checkout, to a path without spaces: tritonserver starts no Python model from there.',
    });
  }
  mkdirSync(cache, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(path, link);
  return link;
}
