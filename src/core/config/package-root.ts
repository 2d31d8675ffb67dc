import { join } from 'node:path';

/** The folder of package.json: where the tiny checkpoint and the model repository lie, whatever the working directory. */
export const PACKAGE_ROOT = join(import.meta.dirname, '..', '..', '..');

export const TINY_CHECKPOINT = join(PACKAGE_ROOT, 'docker', 'checkpoint', 'tiny');
export const MODEL_REPOSITORY = join(PACKAGE_ROOT, 'docker', 'models');
