import { posix } from 'node:path';
import { CoreError } from './types.ts';

/**
 * Refuses files of a load that a real 2.51 was seen to refuse (docs/observed.md#triton-2-51): without a configuration
 * beside them, with a path that is empty or leads out of the folder of the model, or none of them in a version's folder.
 *
 * `names`: parameter names, `file:<path>`. Errors: INTERNAL, INVALID_ARG.
 */
export function checkFileOverrides(model: string, names: readonly string[], hasConfig: boolean): void {
  if (names.length === 0) return;
  // As the real one joins it to a folder of its own: a leading slash means nothing.
  const paths = names.map((name) => posix.normalize(`./${name.slice('file:'.length)}`));
  const outside = paths.some((path) => path === './' || path === '..' || path.startsWith('../'));
  if (!hasConfig || outside) throw new CoreError('INTERNAL', `failed to load '${model}', failed to poll from model repository`);
  if (!paths.some((path) => /^[1-9]\d*\//.test(path))) {
    throw new CoreError(
      'INVALID_ARG',
      `load failed for model '${model}': at least one version must be available under the version policy of model '${model}'\n`,
    );
  }
}
