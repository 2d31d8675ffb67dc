/** The config file and the environment; that they resolve at all was settled before any examination. */
import { basename } from 'node:path';
import { findConfigFile, unknownVariables } from '#core/config/index.ts';
import type { Examination } from './finding.ts';
import { ok, warn } from './finding.ts';

export const examineConfiguration: Examination = async ({ cwd, env }) => {
  const file = findConfigFile(cwd);
  const found = ok('config file', file === undefined ? 'none; defaults hold' : `${basename(file)} is valid`);
  const unknown = unknownVariables(env).map(({ name, meant }) =>
    warn('environment', `${name} means nothing`, meant === undefined ? 'Unset it.' : `Did you mean ${meant}?`),
  );
  return [found, ...unknown];
};
