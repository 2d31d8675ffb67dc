import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, openSync, writeSync, fsyncSync, closeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { LockstepError } from '../errors/index.ts';

/**
 * Writes a file so that a reader sees the old content or the new, never a part of either: a temporary file in the
 * same folder, fsync, rename.
 *
 * Errors: `file-not-writable`.
 */
export function writeFileAtomic(path: string, data: string | Uint8Array): void {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`);
  try {
    mkdirSync(folder, { recursive: true });
    const file = openSync(temporary, 'wx');
    try {
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      let written = 0;
      while (written < bytes.length) written += writeSync(file, bytes, written);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw new LockstepError('file-not-writable', `cannot write ${path}: ${(thrown as Error).message}`, {
      hint: 'Check that the folder exists, that it is not read-only and that the disk has room; nothing was changed.',
      cause: thrown,
    });
  }
}
