/** The thread that runs a config file: what the file does to its process, it does to this thread alone. */
import { parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Loaded } from './load-config-file.ts';

const tell = (loaded: Loaded): void => parentPort?.postMessage(loaded);

// Nothing is left that could end the wait of a file that awaits something.
process.once('beforeExit', () => tell({ kind: 'waits' }));

void import(pathToFileURL(workerData as string).href).then(
  (module: { readonly default?: unknown }) => {
    try {
      tell(read(module.default));
    } catch (thrown) {
      tell(failed(thrown));
    }
  },
  (thrown: unknown) => tell(failed(thrown)),
);

function read(settings: unknown): Loaded {
  // A promise, a list or a map is an object too, and one without fields.
  if (typeof settings !== 'object' || settings === null || Object.prototype.toString.call(settings) !== '[object Object]') {
    return { kind: 'no-object' };
  }
  const entries = Object.entries(settings);
  const odd = entries.find(([, value]) => !isData(value));
  return odd === undefined ? { kind: 'settings', entries } : { kind: 'no-data', field: odd[0], type: typeof odd[1] };
}

function isData(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

function failed(thrown: unknown): Loaded {
  const isError = thrown instanceof Error;
  return { kind: 'thrown', message: isError ? thrown.message : String(thrown), place: isError ? placeIn(thrown.stack ?? '') : undefined };
}

/** Syntax errors name their place on the first line, others in the first frame that is not Node's own. */
function placeIn(stack: string): string | undefined {
  const found = /^((?:file:\/\/)?\/.*:\d+)$/m.exec(stack)?.[1] ?? /(file:\/\/\/.*:\d+):\d+\)?$/m.exec(stack)?.[1];
  if (found?.startsWith('file:') !== true) return found;
  const line = found.lastIndexOf(':');
  return fileURLToPath(found.slice(0, line)) + found.slice(line);
}
