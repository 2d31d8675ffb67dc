/**
 * Loading and unloading by the front end itself. Source: TritonLLMEngine.load_model and unload_model (r26.04);
 * docs/observed.md#openai-front-end-by-release.
 */
import { CoreError } from '../core/types.ts';
import type { Frontend } from './endpoints.ts';
import { clientError } from './client-error.ts';
import { modelEntry, modelJson } from './model-table.ts';
import { ServerFailure } from './server-failure.ts';

/** Gives the body of the answer. Errors: HttpError 400, ServerFailure. */
export async function loadModel(frontend: Frontend, name: string): Promise<string> {
  mustBeExplicit(frontend);
  if (frontend.models.has(name)) throw clientError(`Model '${name}' is already loaded`);
  try {
    await frontend.core.loadModel(name, new Map());
  } catch (thrown) {
    if (!(thrown instanceof CoreError)) throw thrown;
    const text = `Failed to load model '${name}': ${thrown.message}`;
    throw thrown.code === 'INVALID_ARG' ? clientError(text) : new ServerFailure(text);
  }
  const entry = modelEntry(frontend.core, name);
  frontend.models.set(name, entry);
  return JSON.stringify(modelJson(entry));
}

/** Returns at once; what runs on the model runs to its end. Errors: HttpError 400. */
export function unloadModel(frontend: Frontend, name: string): string {
  mustBeExplicit(frontend);
  if (!frontend.models.delete(name)) throw clientError(`Unknown model: ${name}`);
  frontend.core.unloadModel(name);
  return JSON.stringify({ status: 'success', model: name });
}

function mustBeExplicit({ settings }: Frontend): void {
  if (settings.modelControl !== 'explicit') throw clientError('Model load/unload requires --model-control-mode=explicit');
}
