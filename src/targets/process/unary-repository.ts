import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import { modelRepository } from '../model-repository.ts';

/** The models whose configuration says that they are decoupled; the ensemble is what its steps are. */
const DECOUPLED = ['tensorrt_llm', 'llmapi', 'tensorrt_llm_bls', 'tensorrt_llm_bls_accumulate'];

/** A copy of the model repository, with this checkpoint beside it, in which every request gets one response. */
export function unaryRepository(checkpoint = TINY_CHECKPOINT): { readonly path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-unary-'));
  const path = join(folder, 'models');
  const source = modelRepository(checkpoint, DEFAULT_PROFILE.core);
  cpSync(source, path, { recursive: true });
  // The models name their checkpoint by its place beside the repository.
  symlinkSync(join(source, '..', 'checkpoint'), join(folder, 'checkpoint'));
  for (const model of DECOUPLED) {
    const config = join(path, model, 'config.pbtxt');
    const text = readFileSync(config, 'utf8');
    const unary = text.replace(/decoupled:\s*true/i, 'decoupled: false');
    if (unary === text) throw new Error(`${config} says nothing about a decoupled policy`);
    writeFileSync(config, unary);
  }
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
