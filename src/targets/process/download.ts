import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LockstepError } from '#core/errors/index.ts';
import { runCommand } from '../host/index.ts';
import { findPip, type PythonInstall } from './python.ts';
import type { WheelPin } from './releases.ts';

export interface WheelTarget {
  readonly python: PythonInstall;
  /** Series that the wheel is for, as `3.11`. */
  readonly series: string;
  readonly signal: AbortSignal | undefined;
}

/** Downloads a wheel into a folder and gives its path. Errors: `pip-missing`, `command-failed`, `download-checksum`, `deadline`. */
export async function downloadWheel(folder: string, pin: WheelPin, { python, series, signal }: WheelTarget): Promise<string> {
  const [program, ...first] = await findPip(python, signal);
  const target = ['--no-deps', '--only-binary=:all:', '--python-version', series, '--platform', pin.platform];
  const wanted = `${pin.package}==${pin.packageVersion}`;
  await runCommand(program, [...first, 'download', '--quiet', '--disable-pip-version-check', ...target, '--dest', folder, wanted], {
    ms: 600_000,
    what: `the download of ${pin.package} ${pin.packageVersion}`,
    signal,
  });
  const path = join(folder, pin.file);
  await requirePinned(path, pin.sha256);
  return path;
}

/** Errors: `download-checksum` where a downloaded file is not there, or is another. */
export async function requirePinned(path: string, expected: string): Promise<void> {
  if (!existsSync(path)) {
    throw new LockstepError('download-checksum', 'the download gave another file than the pinned one', {
      context: { expected: path, folder: readdirSync(join(path, '..')).join(' ') },
      hint: 'Do not use this download; find out why the package index serves another file.',
    });
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const got = hash.digest('hex');
  if (got === expected) return;
  throw new LockstepError('download-checksum', `${path} is not the pinned file`, {
    context: { expected, got },
    hint: 'Do not use this download; find out why the package index serves another file.',
  });
}
