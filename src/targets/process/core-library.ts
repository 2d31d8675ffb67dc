import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { onPath, runCommand } from '../host/index.ts';
import { downloadWheel, requirePinned, type WheelTarget } from './download.ts';
import { type Core, type CoreParts, TRITON_DATA } from './releases.ts';

/** Debian's libraries of a layout with a newer core, beside its `site/`. */
export const CORE_LIBRARIES = 'libraries';
/** What a program is called whose place a script has taken. */
export const REAL_SUFFIX = '.real';
const LOADER = 'ld-linux-x86-64.so.2';

/** Looked for before anything is downloaded. Errors: `maven-missing`, `mmdebstrap-missing`. */
export function requireCoreTools({ release }: Core): void {
  if (!onPath('mvn')) {
    throw new LockstepError('maven-missing', `mvn, which brings the core ${release.version}, is not on PATH`, {
      hint: 'On Debian: sudo apt-get install maven. The releases up to 2.51 come from PyPI and do without.',
    });
  }
  if (!onPath('mmdebstrap')) {
    throw new LockstepError('mmdebstrap-missing', `mmdebstrap, which brings the C library of the core ${release.version}, is not on PATH`, {
      hint: 'On Debian: sudo apt-get install mmdebstrap. The releases up to 2.51 come from PyPI and do without.',
    });
  }
}

/**
 * Puts a newer core in the place of the one in a layout's `site/`, with the libraries that it is linked with, and gives the C library's
 * release. Server and stub are started by that library's own loader; both, because a stub on another C library than its server's stalls
 * at the first metric that its model registers, or after the first response of a stream (observed).
 *
 * Errors: `command-failed`, `download-checksum`, `pip-missing`, `deadline`.
 */
export async function placeCore(draft: string, { parts, release }: Core, target: WheelTarget): Promise<string> {
  const { signal } = target;
  const work = mkdtempSync(join(draft, 'core-'));
  const libraries = join(draft, CORE_LIBRARIES);
  await unpackDebian(work, libraries, parts, signal);
  const loader = join(libraries, LOADER);
  const underLoader = (program: string, args: readonly string[], what: string) =>
    runCommand(loader, ['--library-path', libraries, program, ...args], { ms: 30_000, what, signal });
  const stub = ['-shared', '-nostdlib', '-nostdinc', '-Wl,-soname=libdcgm.so.4', '-o', join(libraries, 'libdcgm.so.4')];
  await underLoader(join(work, 'usr/bin/tcc'), [...stub, join(TRITON_DATA, 'dcgm.c')], 'compiling the stand-in of libdcgm');

  const wheel = await downloadWheel(work, parts.cudaRuntime, target);
  const cuda = await unzip(wheel, join(work, 'cuda'), target);
  copyFileSync(oneFile(cuda, /^libcudart\.so\.\d+$/), join(libraries, 'libcudart.so.13'));

  const copy = [`${parts.mavenPlugin}:copy`, `-Dartifact=${release.artifact}`, `-DoutputDirectory=${work}`];
  await runCommand('mvn', ['--quiet', '--batch-mode', ...copy], { ms: 600_000, what: `the download of ${release.artifact}`, signal });
  const jar = join(work, release.file);
  await requirePinned(jar, release.sha256);
  const core = oneFile(await unzip(jar, join(work, 'jar'), target), /^libtritonserver\.so$/);
  const site = join(draft, 'site');
  // Under the name by which the front ends ask for it.
  copyFileSync(core, oneFile(join(site, 'nvidia_pytriton.libs'), /^libtritonserver-\w+\.so$/));
  for (const program of ['bin/tritonserver', 'backends/python/triton_python_backend_stub'])
    startThroughLoader(join(site, 'pytriton/tritonserver', program), '../'.repeat(program.split('/').length + 2));
  rmSync(work, { recursive: true });
  const said = await runCommand(loader, ['--version'], { ms: 30_000, what: 'the release of the C library', signal });
  return /GLIBC ([^)\s]+)\)/.exec(said)?.[1] ?? said.split('\n', 1)[0]!;
}

/** The libraries in one flat folder; a C compiler, which no host needs to have, stays in `work`. */
async function unpackDebian(work: string, libraries: string, { debian }: CoreParts, signal: AbortSignal | undefined): Promise<void> {
  const tar = join(work, 'debian.tar');
  const without = ['/usr/share/*', '*/gconv/*', '*/engines-3/*', '*/krb5/*', '*/ossl-modules/*'];
  const options = ['--quiet', '--variant=extract', `--include=${debian.packages.join(',')}`];
  await runCommand('mmdebstrap', [...options, ...without.map((path) => `--dpkgopt=path-exclude=${path}`), debian.suite, tar], {
    ms: 600_000,
    what: `the C library of Debian's ${debian.suite}`,
    signal,
  });
  const parts = ['./usr/lib/x86_64-linux-gnu', './usr/bin/tcc'];
  await runCommand('tar', ['--no-same-owner', '-xf', tar, '-C', work, ...parts], { ms: 60_000, what: 'unpacking the C library', signal });
  mkdirSync(libraries);
  const from = join(work, 'usr/lib/x86_64-linux-gnu');
  for (const name of readdirSync(from)) if (/\.so(\.|$)/.test(name)) renameSync(join(from, name), join(libraries, name));
}

async function unzip(archive: string, folder: string, { python, signal }: WheelTarget): Promise<string> {
  await runCommand(python.program, ['-I', '-m', 'zipfile', '-e', archive, folder], { ms: 120_000, what: `unpacking ${archive}`, signal });
  return folder;
}

function oneFile(folder: string, name: RegExp): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) => name.test(path.split('/').at(-1)!));
  if (found !== undefined) return join(folder, found);
  throw new LockstepError('internal', `${folder} has no file ${name.source}`);
}

/** The layout may be moved, so the script looks for the loader from where it lies. LD_LIBRARY_PATH may lead to libpython. */
function startThroughLoader(program: string, up: string): void {
  renameSync(program, `${program}${REAL_SUFFIX}`);
  const script = [
    '#!/bin/sh',
    `libraries=\${0%/*}/${up}${CORE_LIBRARIES}`,
    `exec "$libraries/${LOADER}" --library-path "$libraries\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$0${REAL_SUFFIX}" "$@"`,
  ];
  writeFileSync(program, `${script.join('\n')}\n`);
  chmodSync(program, 0o755);
}
