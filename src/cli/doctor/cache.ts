/** The cache folder, where target process keeps its server. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { Examination } from './finding.ts';
import { ok, warn } from './finding.ts';

export const examineCache: Examination = async () => {
  const folder = join(PACKAGE_ROOT, '.cache');
  const exists = existsSync(folder);
  try {
    accessSync(exists ? folder : dirname(folder), constants.W_OK | constants.X_OK);
    return [ok('cache', exists ? '.cache is writable' : '.cache can be made')];
  } catch {
    return [warn('cache', '.cache cannot be written', 'Target process keeps its server there; give the folder write permission.')];
  }
};
