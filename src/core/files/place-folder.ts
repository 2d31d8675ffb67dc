import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { LockstepError } from '../errors/index.ts';

/**
 * Moves a finished folder to its place in one rename, so that a reader sees all of it or nothing.
 *
 * `standing` says whether what is there already will do: then that stays, and its value is given; otherwise it is moved
 * away first. Undefined when the draft was moved. Errors: `layout-failed`.
 */
export function placeFolder<T>(draft: string, folder: string, standing: () => T | undefined): T | undefined {
  for (let attempt = 0; ; attempt += 1) {
    try {
      renameSync(draft, folder);
      return undefined;
    } catch (thrown) {
      const code = (thrown as NodeJS.ErrnoException).code;
      if ((code !== 'ENOTEMPTY' && code !== 'EEXIST') || attempt === 3) throw LockstepError.from(thrown, 'layout-failed');
    }
    const other = standing();
    if (other !== undefined) return other;
    const stale = `${folder}.stale-${randomBytes(4).toString('hex')}`;
    try {
      renameSync(folder, stale);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw LockstepError.from(thrown, 'layout-failed');
    }
    rmSync(stale, { recursive: true, force: true });
  }
}
