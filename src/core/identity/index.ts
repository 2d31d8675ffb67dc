/**
 * Parts of a target's identity that several kinds of target state, computed the same way for each, so that equal things
 * compare equal: each value is the first 12 digits of a SHA-256, or the word "unknown".
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256, shortHash } from '../hash/index.ts';
import { UNKNOWN } from './unknown.ts';

export type { Identity, IdentityComparison } from './difference.ts';
export { compareIdentities } from './difference.ts';
export { UNKNOWN };
export { SWITCHES, switchesOf } from './switches.ts';

/** Weights and tokenizer of a Hugging Face folder. */
export function checkpointIdentity(dir: string): { readonly weights: string; readonly tokenizer: string } {
  return { weights: fileHash(join(dir, 'model.safetensors')), tokenizer: fileHash(join(dir, 'tokenizer.json')) };
}

/** The config.pbtxt files of a model repository. */
export function configsIdentity(repository: string): string {
  return filesHash(repository, (path) => path.endsWith('.pbtxt'));
}

/** The Python models of a repository. */
export function modelCodeIdentity(repository: string): string {
  return filesHash(repository, (path) => path.endsWith('.py'));
}

function filesHash(folder: string, wanted: (path: string) => boolean): string {
  if (!existsSync(folder)) return UNKNOWN;
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(wanted).toSorted();
  return shortHash(paths.map((path) => `${path} ${sha256(readFileSync(join(folder, path)))}`).join('\n'));
}

function fileHash(path: string): string {
  return existsSync(path) ? shortHash(readFileSync(path)) : UNKNOWN;
}
