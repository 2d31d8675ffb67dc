import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import type { TritonLayout } from './layout.ts';

/**
 * A tritonserver that is installed on this host: back ends and caches beside its `bin/`, where releases and containers
 * have them, else where the program itself looks. Its models run on the `python3` of PATH. Errors: `triton-missing`.
 */
export function installedTriton(path: string): TritonLayout {
  let program: string;
  try {
    program = realpathSync(path);
    accessSync(program, constants.X_OK);
    if (!statSync(program).isFile()) throw new Error('it is no file');
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/, (access|realpath|stat|lstat) .*$/, '') : String(thrown);
    throw new LockstepError('triton-missing', `${path} is no program that can be started: ${why}`, {
      hint: 'Name the tritonserver program itself, such as /opt/tritonserver/bin/tritonserver, or a release: --triton 2.51.',
      cause: thrown,
    });
  }
  const beside = (name: string) => {
    const folder = join(dirname(dirname(program)), name);
    return existsSync(folder) ? folder : undefined;
  };
  return { program, backends: beside('backends'), caches: beside('caches'), python: undefined, wheelSha256: undefined };
}
