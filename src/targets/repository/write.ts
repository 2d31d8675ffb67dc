import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolders, placeFolder } from '#core/files/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Plan } from './plan.ts';

/**
 * Writes a planned repository beside its place and moves it there in one rename, so that no half of it is ever seen.
 *
 * Errors: `output-exists`, `file-not-writable`.
 */
export function writeRepository(files: Plan, output: string): void {
  if (existsSync(output) && !isEmptyFolder(output)) {
    throw new LockstepError('output-exists', `${output} is there already`, {
      hint: 'Give --output a folder that is not, or remove that one.',
    });
  }
  const draft = join(dirname(output), `.${basename(output)}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`);
  try {
    makeFolders(dirname(output));
    mkdirSync(draft);
    for (const [path, content] of files) {
      const place = join(draft, path);
      mkdirSync(content.kind === 'text' ? dirname(place) : place, { recursive: true });
      if (content.kind === 'text') writeFileSync(place, content.text);
      // Git and many copiers drop an empty folder, and a model without a version folder does not load.
      if (content.kind === 'folder') writeFileSync(join(place, '.keep'), '');
      if (content.kind === 'copy') {
        cpSync(content.from, place, { recursive: true, dereference: true, filter: (source) => !content.skip.includes(basename(source)) });
      }
    }
    placeFolder(draft, output, () => undefined);
  } catch (thrown) {
    throw new LockstepError(
      'file-not-writable',
      `cannot write ${output}: ${LockstepError.from(thrown).message.replace(/^\[[\w-]+\] /, '')}`,
      {
        hint: 'Check that the folder above it exists, that it is not read-only and that the disk has room; nothing was changed.',
        cause: thrown,
      },
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}
