import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MODEL_REPOSITORY } from '#core/config/index.ts';

/** The models whose configuration says that they are decoupled; the ensemble is what its steps are. */
const DECOUPLED = ['tensorrt_llm', 'llmapi', 'tensorrt_llm_bls', 'tensorrt_llm_bls_accumulate'];

/** A copy of the model repository in which every request gets one response. */
export function unaryRepository(): { readonly path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-unary-'));
  const path = join(folder, 'models');
  cpSync(MODEL_REPOSITORY, path, { recursive: true });
  // The models name their checkpoint by its place beside the repository.
  symlinkSync(join(MODEL_REPOSITORY, '..', 'checkpoint'), join(folder, 'checkpoint'));
  for (const model of DECOUPLED) {
    const config = join(path, model, 'config.pbtxt');
    const text = readFileSync(config, 'utf8');
    const unary = text.replace(/decoupled:\s*true/i, 'decoupled: false');
    if (unary === text) throw new Error(`${config} says nothing about a decoupled policy`);
    writeFileSync(config, unary);
  }
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
