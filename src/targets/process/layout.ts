import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { placeFolder, writeFileAtomic } from '#core/files/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { findPip, findPython } from './python.ts';
import { type PythonEnvironment, pythonEnvironment } from './python-environment.ts';
import { type ServerRelease, serverRelease, type ServerTable, serverTable } from './releases.ts';
import { runCommand } from '../host/index.ts';

const MARKER = 'complete.json';

/** A real tritonserver on this disk, ready to start. */
export interface TritonLayout {
  readonly program: string;
  /** Undefined: where the program itself looks. */
  readonly backends: string | undefined;
  readonly caches: string | undefined;
  /** Undefined: the models run on whatever `python3` is on PATH. */
  readonly python: PythonEnvironment | undefined;
  /** Undefined for a program that was not laid out from a wheel. */
  readonly wheelSha256: string | undefined;
}

/** One that was laid out here. */
export interface WheelLayout extends TritonLayout {
  readonly folder: string;
  readonly python: PythonEnvironment;
  readonly wheelSha256: string;
}

export interface LayoutOptions {
  /** As `2.47`; default the newest of docker/triton/tritonserver.json. */
  readonly version?: string | undefined;
  /** Where layouts live; default `<project>/.cache/triton`. */
  readonly cacheFolder?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lays out tritonserver with its Python backend and a Python environment, or gives the layout that is there.
 *
 * The server comes out of a PyPI wheel (docker/triton/tritonserver.json), which needs no installation. Built beside its place
 * and moved there in one rename, so an interrupted run leaves nothing that looks finished and two runs at once both
 * succeed. Errors: `triton-unknown`, `python-missing`, `pip-missing`, `command-failed`, `wheel-checksum`,
 * `unsupported-platform`, `deadline`.
 */
export async function layOutTriton(options: LayoutOptions = {}): Promise<WheelLayout> {
  const { signal } = options;
  const table = serverTable();
  const release = serverRelease(options.version ?? table.releases.at(-1)!.version, table);
  refuseOtherPlatform();
  const cache = options.cacheFolder ?? join(PACKAGE_ROOT, '.cache/triton');
  const python = await pythonEnvironment(cache, table, signal);
  const folder = join(cache, `tritonserver-${release.version}`);
  const { releases: _, ...shared } = table;
  const pins = sha256(JSON.stringify({ ...shared, ...release }));
  if (!isFinished(folder, pins)) await build(cache, folder, { table, release, pins }, signal);
  const server = serverFolder(folder);
  return {
    folder,
    program: join(server, 'bin/tritonserver'),
    backends: join(server, 'backends'),
    caches: join(server, 'caches'),
    python,
    wheelSha256: release.sha256,
  };
}

const serverFolder = (folder: string) => join(folder, 'site/pytriton/tritonserver');

function isFinished(folder: string, pins: string): boolean {
  const path = join(folder, MARKER);
  return existsSync(path) && (JSON.parse(readFileSync(path, 'utf8')) as { readonly pins: string }).pins === pins;
}

function refuseOtherPlatform(): void {
  if (process.platform === 'linux' && process.arch === 'x64') return;
  throw new LockstepError(
    'unsupported-platform',
    `the tritonserver binaries are for Linux x86_64, this is ${process.platform} ${process.arch}`,
    { hint: 'Leave --target out to use the embedded server, or name a running one: --target external.' },
  );
}

interface Recipe {
  readonly table: ServerTable;
  readonly release: ServerRelease;
  readonly pins: string;
}

async function build(cache: string, folder: string, recipe: Recipe, signal: AbortSignal | undefined): Promise<void> {
  const draft = join(cache, `.building-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(draft, { recursive: true });
    await unpackServer(draft, recipe, signal);
    writeFileAtomic(join(draft, MARKER), `${JSON.stringify({ pins: recipe.pins })}\n`);
    placeFolder(draft, folder, () => (isFinished(folder, recipe.pins) ? true : undefined));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function unpackServer(draft: string, { table, release }: Recipe, signal: AbortSignal | undefined) {
  const python = await findPython(table.python, table.libpython, signal);
  const [program, ...first] = await findPip(python, signal);
  const target = ['--no-deps', '--only-binary=:all:', '--python-version', table.python, '--platform', table.platform];
  const wanted = `${table.package}==${release.packageVersion}`;
  await runCommand(program, [...first, 'download', '--quiet', '--disable-pip-version-check', ...target, '--dest', draft, wanted], {
    ms: 600_000,
    what: `the download of ${table.package} ${release.packageVersion}`,
    signal,
  });
  const wheel = join(draft, release.file);
  const sum = await fileSha256(wheel);
  if (sum !== release.sha256) {
    throw new LockstepError('wheel-checksum', `${release.file} is not the pinned file`, {
      context: { expected: release.sha256, got: sum },
      hint: 'Do not use this download; find out why the package index serves another file.',
    });
  }
  await runCommand(python.program, ['-I', '-m', 'zipfile', '-e', wheel, join(draft, 'site')], {
    ms: 120_000,
    what: 'unpacking the server',
    signal,
  });
  rmSync(wheel);
  const server = serverFolder(draft);
  const stub = 'triton_python_backend_stub';
  // The copy has the same depth as the original, so that the stub's relative RPATH still leads to nvidia_pytriton.libs.
  copyFileSync(join(server, 'python_backend_stubs', table.python, stub), join(server, 'backends/python', stub));
  chmodSync(join(server, 'backends/python', stub), 0o755);
  chmodSync(join(server, 'bin/tritonserver'), 0o755);
  rmSync(join(server, 'python_backend_stubs'), { recursive: true });
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
