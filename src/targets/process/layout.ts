import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { placeFolder, writeFileAtomic } from '#core/files/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { readJsonObject } from '#core/json/index.ts';
import { CORE_LIBRARIES, placeCore, requireCoreTools } from './core-library.ts';
import { downloadWheel } from './download.ts';
import { findPython } from './python.ts';
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
  /** Set: the core is newer than the front ends and the Python backend. */
  readonly core?: LaidOutCore;
}

export interface LaidOutCore {
  /** Release of the front ends and of the Python backend, as `2.51.0`. */
  readonly frontEnds: string;
  /** Where the core and the C library below it are from. */
  readonly origin: string;
  /** Folder with the libraries that it is linked with. */
  readonly libraries: string;
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
 * succeed. Errors: `triton-unknown`, `python-missing`, `pip-missing`, `command-failed`, `download-checksum`,
 * `unsupported-platform`, `deadline`; for a newer core those of `requireCoreTools`.
 */
export async function layOutTriton(options: LayoutOptions = {}): Promise<WheelLayout> {
  const { signal } = options;
  const table = serverTable();
  const release = serverRelease(options.version ?? table.releases.at(-1)!.version, table);
  refuseOtherPlatform();
  const cache = options.cacheFolder ?? join(PACKAGE_ROOT, '.cache/triton');
  const python = await pythonEnvironment(cache, table, signal);
  const folder = join(cache, `tritonserver-${release.version}`);
  const { releases: _, cores: _cores, ...shared } = table;
  const pins = sha256(JSON.stringify({ ...shared, ...release }));
  const marker = readMarker(folder, pins) ?? (await build(cache, folder, { table, release, pins }, signal));
  const server = serverFolder(folder);
  const { core } = release;
  return {
    folder,
    program: join(server, 'bin/tritonserver'),
    backends: join(server, 'backends'),
    caches: join(server, 'caches'),
    python,
    wheelSha256: release.sha256,
    ...(core === undefined
      ? {}
      : {
          core: {
            frontEnds: core.parts.frontEnds,
            origin: `${core.release.artifact}, sha256 ${core.release.sha256.slice(0, 12)}, on glibc ${marker.libc}`,
            libraries: join(folder, CORE_LIBRARIES),
          },
        }),
  };
}

const serverFolder = (folder: string) => join(folder, 'site/pytriton/tritonserver');

interface Marker {
  readonly pins: string;
  /** Release of the C library below a newer core. */
  readonly libc?: string;
}

function readMarker(folder: string, pins: string): Marker | undefined {
  const marker = readJsonObject(join(folder, MARKER)) as Marker | undefined;
  return marker?.pins === pins ? marker : undefined;
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

async function build(cache: string, folder: string, recipe: Recipe, signal: AbortSignal | undefined): Promise<Marker> {
  const draft = join(cache, `.building-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(draft, { recursive: true });
    const libc = await unpackServer(draft, recipe, signal);
    const marker: Marker = { pins: recipe.pins, ...(libc === undefined ? {} : { libc }) };
    writeFileAtomic(join(draft, MARKER), `${JSON.stringify(marker)}\n`);
    return placeFolder(draft, folder, () => readMarker(folder, recipe.pins)) ?? marker;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Gives the release of the C library where a newer core brings one. */
async function unpackServer(draft: string, { table, release }: Recipe, signal: AbortSignal | undefined): Promise<string | undefined> {
  if (release.core !== undefined) requireCoreTools(release.core);
  const python = await findPython(table.python, table.libpython, signal);
  const target = { python, series: table.python, signal };
  const wheel = await downloadWheel(draft, { ...release, package: table.package, platform: table.platform }, target);
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
  return release.core === undefined ? undefined : placeCore(draft, release.core, target);
}
