import { DIFFERENCES } from '#embedded/differences.ts';
import { FAULTS } from '#embedded/faults/index.ts';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { differencesPage } from './differences-page.ts';
import { errorsPage } from './errors-page.ts';
import { faultsPage } from './faults-page.ts';
import { jsonPage } from './json-page.ts';
import { join } from 'node:path';
import { withKnobs } from './knobs-section.ts';
import { surfacePage } from './surface-page.ts';

/** The pages of docs/ that are made from the code, so that they cannot say something else. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/json-report.md': jsonPage,
  'docs/faults.md': () => faultsPage(FAULTS),
  'docs/differences.md': () => differencesPage(DIFFERENCES),
  'docs/errors.md': () => errorsPage(PACKAGE_ROOT),
  'docs/determinism.md': () => withKnobs(join(PACKAGE_ROOT, 'docs/determinism.md')),
  'docs/surface.md': () => surfacePage(PACKAGE_ROOT),
};
