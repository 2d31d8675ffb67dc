import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { placeFolder, writeFileAtomic } from '#core/files/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { readJsonObject } from '#core/json/index.ts';
import { runCommand } from '../host/index.ts';
import { findPip, findPython, layOutTriton } from '../process/index.ts';

/** docker/clients/requirements-<id>.txt: what is in it and why those releases. */
export type EnvironmentId = 'libraries' | 'perf-analyzer' | 'genai-perf' | 'aiperf';

export interface ClientEnvironment {
  readonly folder: string;
  readonly python: string;
  /** The start script of a package, to be run by `python`: its own first line names a place where it never was. */
  readonly script: (name: string) => string;
  /** Folder with programs that are started by their name. */
  readonly programs: string;
}

const DATA = join(PACKAGE_ROOT, 'docker/clients');
const CACHE = join(PACKAGE_ROOT, '.cache/clients');
const PYTHON = '3.11';
const MARKER = 'complete.json';
/** Raised when the way of laying out changes: it makes old folders stale. */
const LAYOUT = 1;
/** The largest one is 300 MB to fetch and 20 s of processor time to unpack. */
const INSTALL_WITHIN_MS = 400_000;

const known = new Map<EnvironmentId, Promise<ClientEnvironment>>();

/**
 * The Python environment of a client, made on the first call and kept as long as its requirements do not change.
 *
 * Built beside its place and moved there in one rename. Errors: `client-not-installed` (which package, and what pip
 * said), `python-missing`, `pip-missing`, `deadline`; for perf-analyzer those of the server's layout too.
 */
export function clientEnvironment(id: EnvironmentId, signal?: AbortSignal): Promise<ClientEnvironment> {
  let made = known.get(id);
  if (made === undefined) {
    made = layOut(id, signal);
    known.set(id, made);
    made.catch(() => known.delete(id));
  }
  return made;
}

async function layOut(id: EnvironmentId, signal: AbortSignal | undefined): Promise<ClientEnvironment> {
  const requirements = join(DATA, `requirements-${id}.txt`);
  const stamp = sha256(`${LAYOUT}\n${readFileSync(requirements, 'utf8')}`);
  const folder = join(CACHE, id);
  const standing = () => (isComplete(folder, stamp) ? folder : undefined);
  if (standing() === undefined) await build(id, requirements, stamp, folder, standing, signal);
  const packages = join(folder, sitePackages());
  return {
    folder,
    python: join(folder, 'venv/bin/python'),
    programs: join(folder, 'bin'),
    script: (name) => join(packages, 'bin', name),
  };
}

const sitePackages = () => `venv/lib/python${PYTHON}/site-packages`;

/** Made from the same requirements, by a Python that is still installed. */
function isComplete(folder: string, stamp: string): boolean {
  return existsSync(join(folder, 'venv/bin/python')) && readJsonObject(join(folder, MARKER))?.['stamp'] === stamp;
}

async function build(
  id: EnvironmentId,
  requirements: string,
  stamp: string,
  folder: string,
  standing: () => string | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const python = await findPython(PYTHON, `libpython${PYTHON}.so.1.0`, signal);
  const pip = await findPip(python, signal);
  mkdirSync(CACHE, { recursive: true });
  const draft = join(CACHE, `.building-${id}-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    const venv = join(draft, 'venv');
    await runCommand(python.program, ['-I', '-m', 'venv', '--without-pip', venv], {
      ms: 60_000,
      what: `the Python environment of ${id}`,
      signal,
    });
    mkdirSync(join(draft, 'bin'));
    await install(id, pip, requirements, join(draft, sitePackages()), signal);
    if (id === 'perf-analyzer') await linkPerfAnalyzer(draft, signal);
    writeFileAtomic(join(draft, MARKER), `${JSON.stringify({ stamp, python: python.version }, null, 2)}\n`);
    placeFolder(draft, folder, standing);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** By hash and without looking for dependencies: the requirements name all of them. */
async function install(
  id: EnvironmentId,
  [program, ...first]: readonly [string, ...string[]],
  requirements: string,
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const platforms = ['manylinux_2_17_x86_64', 'manylinux2014_x86_64', 'manylinux_2_28_x86_64', 'manylinux_2_34_x86_64'];
  const how = [
    '--no-deps',
    '--no-compile',
    '--require-hashes',
    '--only-binary=:all:',
    '--python-version',
    PYTHON,
    '--implementation',
    'cp',
  ];
  const args = [
    ...first,
    'install',
    '--quiet',
    '--disable-pip-version-check',
    ...how,
    ...platforms.flatMap((name) => ['--platform', name]),
    '--target',
    target,
    '-r',
    requirements,
  ];
  try {
    await runCommand(program, args, { ms: INSTALL_WITHIN_MS, what: `the installation of ${id}`, signal });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code !== 'command-failed') throw error;
    const output = String(error.context['output'] ?? '');
    const reasons = output.split('\n').filter((line) => /^\s*ERROR:/.test(line));
    throw new LockstepError('client-not-installed', `${id}: ${reasons.at(-1)?.replace(/^\s*ERROR:\s*/, '') ?? error.message}`, {
      hint: `Look whether the package index is reachable and has the releases that ${requirements.replace(`${PACKAGE_ROOT}/`, '')} names; then run this again.`,
      context: { output },
      cause: thrown,
    });
  }
}

/** Libraries that the program is linked with and that are in no package of its own: file name, and its name in the server's wheel. */
const LIBRARIES = [
  { name: 'libb64.so.0d', found: /^libb64-\w+\.so\.0d$/ },
  { name: 'libcudart.so.12', found: /^libcudart-\w+\.so\.12\.\d+\.\d+$/ },
] as const;

/** Puts `perf_analyzer` into `bin/`, where other clients find it by its name, with the libraries that the server's wheel carries. */
async function linkPerfAnalyzer(draft: string, signal: AbortSignal | undefined): Promise<void> {
  const { folder } = await layOutTriton({ signal });
  const from = join(folder, 'site/nvidia_pytriton.libs');
  const files = readdirSync(from);
  mkdirSync(join(draft, 'lib'));
  for (const { name, found } of LIBRARIES) {
    const file = files.find((f) => found.test(f));
    if (file === undefined) {
      throw new LockstepError('client-not-installed', `perf-analyzer: ${from} has no ${name}`, {
        hint: 'Remove .cache/triton, so that the server is laid out again.',
      });
    }
    copyFileSync(join(from, file), join(draft, 'lib', name));
  }
  const program = `../${sitePackages()}/bin/perf_analyzer`;
  chmodSync(join(draft, 'bin', program), 0o755);
  const script = ['#!/bin/sh', 'here=$(dirname "$0")', `LD_LIBRARY_PATH="$here/../lib" exec "$here/${program}" "$@"`, ''].join('\n');
  writeFileSync(join(draft, 'bin/perf_analyzer'), script, { mode: 0o755 });
}

/** PATH with these folders first. */
export function pathWith(...folders: readonly string[]): string {
  return [...folders, process.env['PATH'] ?? ''].join(delimiter);
}
