import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of package.json: where the tiny checkpoint and the model repository lie, whatever the working directory. */
export const PACKAGE_ROOT = join(import.meta.dirname, '..', '..', '..');

/** The checkpoints that are committed (docker/checkpoint/README.md): byte-level BPE, and SentencePiece. */
export const TINY_CHECKPOINT = join(PACKAGE_ROOT, 'docker', 'checkpoint', 'tiny');
export const SPM_CHECKPOINT = join(PACKAGE_ROOT, 'docker', 'checkpoint', 'tiny-spm');
export const MODEL_REPOSITORY = join(PACKAGE_ROOT, 'docker', 'models');

/** Where each job of target slurm has a folder of its own while it runs. */
export const DEFAULT_JOB_DIR = join(PACKAGE_ROOT, '.cache', 'slurm', 'jobs');

export function projectVersion(): string {
  return (JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { readonly version: string }).version;
}
