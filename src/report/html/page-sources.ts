/** What page.html is built from, so that a page that is older than its sources can be told. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { shortHash } from '#core/hash/index.ts';

export const PAGE_FOLDER = join(import.meta.dirname, 'page');

/** Files of the other rooms that stand in the page too; the build refuses any that is missing here. */
export const SHARED_SOURCES: readonly string[] = [
  'src/core/stats/bisect.ts',
  'src/core/stats/clopper-pearson.ts',
  'src/core/stats/format-bound.ts',
  'src/core/stats/hazard-bound.ts',
  'src/core/stats/incomplete-beta.ts',
  'src/core/stats/kaplan-meier.ts',
  'src/core/stats/zero-divergence-bound.ts',
  'src/report/claim-name.ts',
  'src/report/flaky-claims.ts',
  'src/report/root-causes.ts',
  'src/report/terminal/duration.ts',
  'src/report/terminal/evidence.ts',
];

const BUILDER: readonly string[] = ['src/report/html/build.ts', 'src/report/html/licences.ts'];
const PACKAGES: readonly string[] = ['preact', 'uplot', 'vite', 'vite-plugin-singlefile'];

/** A short hash of all of it, and of the versions of the packages. */
export function sourcesHash(): string {
  const own = readdirSync(PAGE_FOLDER)
    .sort()
    .map((name) => join(PAGE_FOLDER, name));
  const others = [...SHARED_SOURCES, ...BUILDER].map((path) => join(PACKAGE_ROOT, path));
  const { devDependencies } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const texts = [...own, ...others].map((path) => readFileSync(path, 'utf8'));
  return shortHash(JSON.stringify([texts, PACKAGES.map((name) => devDependencies[name])]));
}
