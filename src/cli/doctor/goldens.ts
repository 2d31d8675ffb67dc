/** The accepted answers: there, readable, and of this checkpoint. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { PACKAGE_ROOT, foldersOf } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { goldenStore } from '#checks/lab/goldens.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { Examination } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

const RECORD = 'Record the first ones with `lockstep goldens record`.';

export const examineGoldens: Examination = async ({ settings, cwd }) => {
  const named = settings.goldens ?? join(PACKAGE_ROOT, 'goldens');
  const root = resolve(cwd, named);
  if (!existsSync(root)) return [warn('goldens', `${named} does not exist`, RECORD)];
  if (!may(root, constants.R_OK | constants.X_OK)) return [fail('goldens', `${named} cannot be read`, 'Correct its permissions.')];
  const folder = foldersOf(settings, cwd).tokenizer;
  // Without a tokenizer there is nothing to match; that is a finding of its own.
  if (folder === undefined || !existsSync(folder)) return [];
  try {
    const store = goldenStore({ goldensDir: root, tokenizer: loadTokenizer(folder) });
    const suites = store.list();
    const others = readdirSync(root).filter((name) => name !== basename(store.folder) && existsSync(join(root, name, 'index.json')));
    if (suites.length === 0) {
      const text = others.length > 0 ? `none for ${basename(store.folder)}, only for ${others.join(', ')}` : `${named} is empty`;
      return [warn('goldens', text, RECORD)];
    }
    const count = suites.reduce((sum, suite) => sum + store.load(suite).size, 0);
    const text = `${count} answers for ${basename(store.folder)} (${suites.join(', ')})`;
    return may(root, constants.W_OK)
      ? [ok('goldens', text)]
      : [warn('goldens', `${text}, read-only`, 'Enough for a check; `lockstep goldens update` needs to write.')];
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return [fail('goldens', error.message, error.hint ?? 'Restore the files from version control.')];
  }
};

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
