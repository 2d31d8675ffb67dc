import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { runCommand } from '../host/index.ts';

/** A CPython that the Python backend's stub can be linked with. */
export interface PythonInstall {
  readonly program: string;
  readonly version: string;
  /** Folder to put on LD_LIBRARY_PATH, or undefined where the loader finds libpython by itself. */
  readonly libraryFolder: string | undefined;
}

/** Folders of Debian's and Ubuntu's x86_64 loader configuration. */
const LOADER_FOLDERS = ['/usr/lib/x86_64-linux-gnu', '/lib/x86_64-linux-gnu', '/usr/lib64', '/lib64', '/usr/lib'];

const DESCRIBE = [
  'import json, sys, sysconfig, venv',
  'v = sysconfig.get_config_var',
  'print(json.dumps({"program": getattr(sys, "_base_executable", sys.executable), "version": sys.version.split()[0], "libdir": v("LIBDIR") or ""}))',
].join('\n');

/**
 * The first CPython of `series` (as `3.11`) that has its shared library, Debian's before those on PATH.
 *
 * The stub needs the library itself, not only the interpreter: Debian ships it apart, pyenv only with
 * `--enable-shared`. Errors: `python-missing` (with what was found instead).
 */
export async function findPython(series: string, libpython: string, signal?: AbortSignal): Promise<PythonInstall> {
  const found: string[] = [];
  for (const candidate of candidates(`python${series}`)) {
    const install = await describe(candidate, signal);
    if (install === undefined) continue;
    const folder = [install.libdir, ...LOADER_FOLDERS].find((path) => path !== '' && existsSync(join(path, libpython)));
    if (folder !== undefined) {
      const libraryFolder = LOADER_FOLDERS.includes(folder) ? undefined : folder;
      return { program: install.program, version: install.version, libraryFolder };
    }
    found.push(`${candidate} (no ${libpython})`);
  }
  throw new LockstepError('python-missing', `no CPython ${series} with ${libpython} on this machine`, {
    hint: `On Debian 12: apt-get install -y python${series} libpython${series} python3-pip`,
    context: { found: found.length === 0 ? 'none' : found.join(', ') },
  });
}

function candidates(name: string): string[] {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name));
  return [...new Set([join('/usr/bin', name), ...onPath])].filter((path) => existsSync(path));
}

async function describe(program: string, signal: AbortSignal | undefined) {
  try {
    const text = await runCommand(program, ['-I', '-c', DESCRIBE], { ms: 15_000, what: 'a look at the Python installation', signal });
    return JSON.parse(text) as { program: string; version: string; libdir: string };
  } catch (thrown) {
    // A pyenv shim without a chosen version, or a Python without the venv module: not usable, look on.
    if (LockstepError.from(thrown).code === 'command-failed') return undefined;
    throw thrown;
  }
}

/**
 * A command that runs pip; any Python's will do, because every call names the target's version and platform.
 *
 * Errors: `pip-missing`.
 */
export async function findPip(python: PythonInstall, signal?: AbortSignal): Promise<readonly [string, ...string[]]> {
  const tries: [string, ...string[]][] = [[python.program, '-m', 'pip'], ['python3', '-m', 'pip'], ['pip3'], ['pip']];
  for (const [program, ...args] of tries) {
    try {
      await runCommand(program, [...args, '--version'], { ms: 30_000, what: 'a look for pip', signal });
      return [program, ...args];
    } catch (thrown) {
      if (LockstepError.from(thrown).code !== 'command-failed') throw thrown;
    }
  }
  throw new LockstepError('pip-missing', 'no pip on this machine', { hint: 'On Debian 12: apt-get install -y python3-pip' });
}
