import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { LockstepError } from '../errors/index.ts';

export { placeFolder } from './place-folder.ts';

/**
 * Writes a file so that a reader sees the old content or the new, never a part of either: a temporary file in the
 * same folder, fsync, rename.
 *
 * Errors: `file-not-writable`.
 */
export function writeFileAtomic(path: string, data: string | Uint8Array): void {
  const temporary = temporaryBeside(path);
  try {
    makeFolders(dirname(path));
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
    remove(temporary);
    throw notWritable(path, thrown, 'nothing was changed');
  }
}

/** Finds out before long work whether its result can be written. Errors: `file-not-writable`. */
export function assertWritable(path: string): void {
  const temporary = temporaryBeside(path);
  try {
    if (existsSync(path) && statSync(path).isDirectory()) throw new Error('it is a folder');
    makeFolders(dirname(path));
    closeSync(openSync(temporary, 'wx'));
  } catch (thrown) {
    throw notWritable(path, thrown, 'nothing was run');
  } finally {
    remove(temporary);
  }
}

/** Step by step: the recursive form of mkdirSync never returns where a parent can be seen but not made (/proc). */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent);
  try {
    mkdirSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

function temporaryBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}

function notWritable(path: string, thrown: unknown, outcome: string): LockstepError {
  return new LockstepError('file-not-writable', `cannot write ${path}: ${(thrown as Error).message}`, {
    hint: `Check that the folder exists, that it is not read-only and that the disk has room; ${outcome}.`,
    cause: thrown,
  });
}
