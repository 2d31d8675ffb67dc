import { relative } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';

/** One of what was found; several are named, so that the user chooses. Errors: `init-ambiguous`. */
export function choose(what: string, flag: string, found: readonly string[], cwd: string): string | undefined {
  if (found.length <= 1) return found[0];
  throw new LockstepError('init-ambiguous', `there is more than one ${what} here`, {
    hint: `Name the one that is meant: ${flag} DIR.`,
    context: { found: found.map((path) => shown(path, cwd)).join(', ') },
  });
}

/** As a path from here that a configuration can keep. */
export function shown(path: string, cwd: string): string {
  const from = relative(cwd, path);
  return from.startsWith('..') ? path : `./${from}`;
}
