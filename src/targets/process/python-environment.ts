import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { placeFolder, writeFileAtomic } from '#core/files/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { readJsonObject } from '#core/json/index.ts';
import { findPip, findPython } from './python.ts';
import { TRITON_DATA } from './releases.ts';
import { runCommand } from '../host/index.ts';

/** A Python environment with what the models import; every release of the server is started with the same one. */
export interface PythonEnvironment {
  /** Goes first on PATH: the stub follows `python3` on PATH and ignores PYTHONPATH (observed). */
  readonly bin: string;
  readonly version: string;
  /** The interpreter that it was made of. */
  readonly program: string;
  /** Folder to put on LD_LIBRARY_PATH, or undefined where the loader finds libpython by itself. */
  readonly libraryFolder: string | undefined;
  /** The pinned packages, as `numpy==1.26.4 tokenizers==…`. */
  readonly packages: string;
}

interface Marker {
  readonly pins: string;
  readonly program: string;
  readonly version: string;
  readonly libraryFolder: string | null;
}

const MARKER = 'complete.json';

/**
 * Makes the environment of docker/triton/requirements.txt for a series (as `3.11`) inside `cache`, or gives the one there.
 * Errors: `python-missing`, `pip-missing`, `command-failed`, `deadline`.
 */
export async function pythonEnvironment(
  cache: string,
  { python, libpython }: { readonly python: string; readonly libpython: string },
  signal: AbortSignal | undefined,
): Promise<PythonEnvironment> {
  const requirements = readFileSync(join(TRITON_DATA, 'requirements.txt'), 'utf8');
  const pins = sha256(`${python}\n${requirements}`);
  const folder = join(cache, `python-${python}`);
  const marker = readMarker(folder, pins) ?? (await build(cache, folder, { python, libpython, pins }, signal));
  leaveRepositoriesAlone(join(folder, `lib/python${python}/site-packages`));
  return {
    bin: join(folder, 'bin'),
    version: marker.version,
    program: marker.program,
    libraryFolder: marker.libraryFolder ?? undefined,
    packages: requirements.match(/^[a-z0-9-]+==\S+/gm)?.join(' ') ?? '',
  };
}

/**
 * A `__pycache__` beside a model's code is a change of the model: the next load of an ensemble starts its steps anew, and their
 * processes are others (observed). The stub heeds no variable of Python's own, but what `site` runs.
 */
function leaveRepositoriesAlone(packages: string): void {
  const path = join(packages, 'lockstep_no_bytecode.pth');
  if (!existsSync(path)) writeFileAtomic(path, 'import sys; sys.dont_write_bytecode = True\n');
}

/** The marker of a finished environment made from the same pins, whose Python is still installed. */
function readMarker(folder: string, pins: string): Marker | undefined {
  const marker = readJsonObject(join(folder, MARKER)) as Marker | undefined;
  return marker?.pins === pins && existsSync(marker.program) ? marker : undefined;
}

/** A venv without pip plus the pinned packages; it finds its base by a relative look-up, so it may be moved. */
async function build(
  cache: string,
  folder: string,
  { python, libpython, pins }: { readonly python: string; readonly libpython: string; readonly pins: string },
  signal: AbortSignal | undefined,
): Promise<Marker> {
  const base = await findPython(python, libpython, signal);
  const [pip, ...first] = await findPip(base, signal);
  mkdirSync(cache, { recursive: true });
  const draft = join(cache, `.building-${process.pid}-${randomBytes(4).toString('hex')}`);
  const platforms = ['manylinux_2_17_x86_64', 'manylinux2014_x86_64'].flatMap((name) => ['--platform', name]);
  try {
    await runCommand(base.program, ['-I', '-m', 'venv', '--without-pip', draft], { ms: 60_000, what: 'the Python environment', signal });
    await runCommand(
      pip,
      [
        ...first,
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--no-deps',
        '--no-compile',
        '--require-hashes',
        '--only-binary=:all:',
        '--python-version',
        python,
        '--implementation',
        'cp',
        ...platforms,
        '--target',
        join(draft, `lib/python${python}/site-packages`),
        '-r',
        join(TRITON_DATA, 'requirements.txt'),
      ],
      { ms: 300_000, what: 'the Python packages of the models', signal },
    );
    // Compiled once here, by the Python that will run it: the models start without write access to bytecode.
    await runCommand(base.program, ['-I', '-m', 'compileall', '-q', join(draft, 'lib')], {
      ms: 120_000,
      what: 'compiling the Python packages',
      signal,
    });
    const marker: Marker = { pins, program: base.program, version: base.version, libraryFolder: base.libraryFolder ?? null };
    writeFileAtomic(join(draft, MARKER), `${JSON.stringify(marker, null, 2)}\n`);
    return placeFolder(draft, folder, () => readMarker(folder, pins)) ?? marker;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
