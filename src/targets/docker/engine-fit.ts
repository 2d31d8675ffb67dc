import { randomBytes } from 'node:crypto';
import type { Engine } from './engine.ts';
import { readEngineFolder, refuseOtherEngine } from './engine-folder.ts';
import { findImage } from './image.ts';
import { thisOwner } from '../host/index.ts';
import { imageFacts } from './probe.ts';

/**
 * Asks a local image, in a container that is gone afterwards, which TensorRT-LLM it has, and whether an engine was built by it.
 * Resolves to both releases. Errors: `engine-version-differs`, `engine-ranks`, those of engine folders, images and the engine.
 */
export async function engineFits(
  engine: Engine,
  { image, engineDir, signal }: { readonly image: string; readonly engineDir: string; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly engine: string; readonly image: string }> {
  const folder = readEngineFolder(engineDir);
  const found = await findImage(engine, image, { allowFloatingTag: true, notice: () => {}, signal });
  const run = randomBytes(8).toString('hex');
  const { tensorrtLlm } = await imageFacts(engine, found, { gpus: 'none', run, owner: thisOwner(), signal });
  refuseOtherEngine(engineDir, folder, tensorrtLlm);
  return { engine: folder.version, image: tensorrtLlm };
}
