/** Python stubs: the processes that answer for a server's Python models. */
import { type ProcessRow, findDescendants } from '../host/index.ts';
import { isPythonModel } from './model-folders.ts';
import type { ModelState } from './repository-index.ts';

const PROGRAM = 'triton_python_backend_stub';

/** The stubs below a process, where this host sees them. */
export function stubsBelow(pid: number): readonly ProcessRow[] {
  return findDescendants(pid).filter(({ argv }) => argv.some((argument) => argument.endsWith(PROGRAM)));
}

/** The model of an instance: the name is `<model>_<group>_<number>`, up to 2.36 `<model>_<group>`. */
export function modelOfInstance(name: string): string {
  return name.replace(/(_\d+){1,2}$/, '');
}

/** The model that a stub answers for; the name of its instance is among its arguments, after the names of shared memory. */
export function modelOfStub(row: ProcessRow): string {
  return modelOfInstance(row.argv.findLast((argument) => /^[^/]+_\d+$/.test(argument)) ?? '');
}

/**
 * The models for whose stub nobody answers any more: a server whose stub died goes on calling the model READY
 * (docs/observed.md#triton-2-51). `stubs` are the models whose stub lives.
 */
export function modelsWithoutStub(repository: string, index: readonly ModelState[], stubs: ReadonlySet<string>): readonly string[] {
  return index
    .filter(({ name, state }) => state === 'READY' && isPythonModel(repository, name) && !stubs.has(name))
    .map(({ name }) => name);
}
