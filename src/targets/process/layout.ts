import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { LockstepError } from '#core/errors/index.ts';
import { placeFolder, writeFileAtomic } from '#core/files/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { findPip, findPython } from './python.ts';
import { runCommand } from './run-command.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const DATA = join(PROJECT, 'docker/triton');
const MARKER = 'complete.json';

/** docker/triton/tritonserver.json: which server, from which package, under which checksum. */
interface ServerPin {
  readonly version: string;
  readonly package: string;
  readonly packageVersion: string;
  readonly file: string;
  readonly sha256: string;
  readonly platform: string;
  readonly python: string;
  readonly libpython: string;
}

/** A real tritonserver on this disk, ready to start. */
export interface TritonLayout {
  readonly folder: string;
  readonly program: string;
  readonly backends: string;
  readonly caches: string;
  /** Goes first on PATH: the stub follows `python3` on PATH and ignores PYTHONPATH (observed). */
  readonly pythonBin: string;
  readonly libraryFolder: string | undefined;
  readonly version: string;
  readonly wheelSha256: string;
  readonly python: string;
  /** The pinned Python packages, as `numpy==1.26.4 tokenizers==…`. */
  readonly packages: string;
}

export interface LayoutOptions {
  /** Where layouts live; default `<project>/.cache/triton`. */
  readonly cacheFolder?: string;
  readonly signal?: AbortSignal | undefined;
}

interface Marker {
  readonly pins: string;
  readonly python: string;
  readonly pythonVersion: string;
  readonly libraryFolder: string | null;
}

/**
 * Lays out tritonserver with its Python backend and a Python environment, or gives the layout that is there.
 *
 * The server comes out of a PyPI wheel (docker/triton/tritonserver.json), which needs no installation. Built beside its place
 * and moved there in one rename, so an interrupted run leaves nothing that looks finished and two runs at once both
 * succeed. Errors: `python-missing`, `pip-missing`, `command-failed`, `wheel-checksum`, `unsupported-platform`, `deadline`.
 */
export async function layOutTriton(options: LayoutOptions = {}): Promise<TritonLayout> {
  const pinText = readFileSync(join(DATA, 'tritonserver.json'), 'utf8');
  const requirements = readFileSync(join(DATA, 'requirements.txt'), 'utf8');
  const pin = JSON.parse(pinText) as ServerPin;
  const pins = sha256(pinText + requirements);
  const cache = options.cacheFolder ?? join(PROJECT, '.cache/triton');
  const folder = join(cache, pin.version);
  const marker = readMarker(folder, pins) ?? (await build(cache, folder, pin, pins, options.signal));
  const server = serverFolder(folder);
  return {
    folder,
    program: join(server, 'bin/tritonserver'),
    backends: join(server, 'backends'),
    caches: join(server, 'caches'),
    pythonBin: join(folder, 'venv/bin'),
    libraryFolder: marker.libraryFolder ?? undefined,
    version: pin.version,
    wheelSha256: pin.sha256,
    python: marker.pythonVersion,
    packages: requirements.match(/^[a-z0-9-]+==\S+/gm)?.join(' ') ?? '',
  };
}

const serverFolder = (folder: string) => join(folder, 'site/pytriton/tritonserver');

/** The marker of a finished layout made from the same pins, whose Python is still installed. */
function readMarker(folder: string, pins: string): Marker | undefined {
  const path = join(folder, MARKER);
  if (!existsSync(path)) return undefined;
  const marker = JSON.parse(readFileSync(path, 'utf8')) as Marker;
  return marker.pins === pins && existsSync(marker.python) ? marker : undefined;
}

async function build(cache: string, folder: string, pin: ServerPin, pins: string, signal: AbortSignal | undefined): Promise<Marker> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new LockstepError(
      'unsupported-platform',
      `the tritonserver binaries are for Linux x86_64, this is ${process.platform} ${process.arch}`,
      { hint: 'Leave --target out to use the embedded server, or name a running one: --target external.' },
    );
  }
  const python = await findPython(pin.python, pin.libpython, signal);
  const pip = await findPip(python, signal);
  mkdirSync(cache, { recursive: true });
  const draft = join(cache, `.building-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(draft);
    await unpackServer(draft, pin, pip, python.program, signal);
    await makeEnvironment(draft, pin, pip, python.program, signal);
    const marker: Marker = { pins, python: python.program, pythonVersion: python.version, libraryFolder: python.libraryFolder ?? null };
    writeFileAtomic(join(draft, MARKER), `${JSON.stringify(marker, null, 2)}\n`);
    return placeFolder(draft, folder, () => readMarker(folder, pins)) ?? marker;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function unpackServer(
  draft: string,
  pin: ServerPin,
  pip: readonly [string, ...string[]],
  python: string,
  signal: AbortSignal | undefined,
) {
  const [program, ...first] = pip;
  const target = ['--no-deps', '--only-binary=:all:', '--python-version', pin.python, '--platform', pin.platform];
  await runCommand(
    program,
    [...first, 'download', '--quiet', '--disable-pip-version-check', ...target, '--dest', draft, `${pin.package}==${pin.packageVersion}`],
    { ms: 600_000, what: `the download of ${pin.package} ${pin.packageVersion}`, signal },
  );
  const wheel = join(draft, pin.file);
  const sum = await fileSha256(wheel);
  if (sum !== pin.sha256) {
    throw new LockstepError('wheel-checksum', `${pin.file} is not the pinned file`, {
      context: { expected: pin.sha256, got: sum },
      hint: 'Do not use this download; find out why the package index serves another file.',
    });
  }
  await runCommand(python, ['-I', '-m', 'zipfile', '-e', wheel, join(draft, 'site')], {
    ms: 120_000,
    what: 'unpacking the server',
    signal,
  });
  rmSync(wheel);
  const server = serverFolder(draft);
  const stub = 'triton_python_backend_stub';
  // The copy has the same depth as the original, so that the stub's relative RPATH still leads to nvidia_pytriton.libs.
  copyFileSync(join(server, 'python_backend_stubs', pin.python, stub), join(server, 'backends/python', stub));
  chmodSync(join(server, 'backends/python', stub), 0o755);
  chmodSync(join(server, 'bin/tritonserver'), 0o755);
  rmSync(join(server, 'python_backend_stubs'), { recursive: true });
}

/** A venv without pip plus the pinned packages; it finds its base by a relative look-up, so it may be moved. */
async function makeEnvironment(
  draft: string,
  pin: ServerPin,
  pip: readonly [string, ...string[]],
  python: string,
  signal: AbortSignal | undefined,
) {
  const venv = join(draft, 'venv');
  await runCommand(python, ['-I', '-m', 'venv', '--without-pip', venv], { ms: 60_000, what: 'the Python environment', signal });
  const [program, ...first] = pip;
  const platforms = ['manylinux_2_17_x86_64', 'manylinux2014_x86_64'].flatMap((name) => ['--platform', name]);
  await runCommand(
    program,
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
      pin.python,
      '--implementation',
      'cp',
      ...platforms,
      '--target',
      join(venv, `lib/python${pin.python}/site-packages`),
      '-r',
      join(DATA, 'requirements.txt'),
    ],
    { ms: 300_000, what: 'the Python packages of the models', signal },
  );
  // Compiled once here, by the Python that will run it: the models start without write access to bytecode.
  await runCommand(python, ['-I', '-m', 'compileall', '-q', join(venv, 'lib')], {
    ms: 120_000,
    what: 'compiling the Python packages',
    signal,
  });
}

async function fileSha256(path: string): Promise<string> {
  if (!existsSync(path)) {
    throw new LockstepError('wheel-checksum', 'the download gave another file than the pinned one', {
      context: { expected: path, folder: readdirSync(join(path, '..')).join(' ') },
    });
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
