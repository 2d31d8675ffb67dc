import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_REPOSITORY, PACKAGE_ROOT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { placeFolder } from '#core/files/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { configsIdentity, modelCodeIdentity } from '#core/identity/index.ts';

/**
 * The model repository with this checkpoint beside it.
 *
 * Its configurations name `../../checkpoint/tiny`, seen from a model's folder. For another checkpoint the repository is copied
 * to a place where that path leads to it, so that the configurations stay the same files and a server's identity differs
 * by weights and tokenizer alone. A copy stays in `.cache/models`, named after its content. Errors: `layout-failed`.
 */
export function modelRepository(checkpoint: string): string {
  if (checkpoint === TINY_CHECKPOINT) return MODEL_REPOSITORY;
  const cache = join(PACKAGE_ROOT, '.cache', 'models');
  const name = shortHash([checkpoint, configsIdentity(MODEL_REPOSITORY), modelCodeIdentity(MODEL_REPOSITORY)].join('\n'));
  const folder = join(cache, name);
  const path = join(folder, 'models');
  if (existsSync(path)) return path;
  const draft = join(cache, `.copying-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(join(draft, 'checkpoint'), { recursive: true });
    cpSync(MODEL_REPOSITORY, join(draft, 'models'), { recursive: true });
    symlinkSync(checkpoint, join(draft, 'checkpoint', 'tiny'));
    placeFolder(draft, folder, () => (existsSync(path) ? path : undefined));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return path;
}
