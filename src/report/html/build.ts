/** `npm run build:report`: page/ becomes page.html, one file with everything in it but the data. */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Rollup } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { licences } from './licences.ts';
import { PAGE_FOLDER, SHARED_SOURCES, sourcesHash } from './page-sources.ts';
import { PAGE_FILE } from './render-html.ts';

/** The page as text. */
export async function buildPage(): Promise<string> {
  // A test runner sets it to something else, and what is built depends on it.
  process.env['NODE_ENV'] = 'production';
  const result = (await build({
    root: PAGE_FOLDER,
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: { write: false, modulePreload: false },
    plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  })) as Rollup.RollupOutput;
  const modules = result.output.flatMap((part) => (part.type === 'chunk' ? Object.keys(part.modules) : []));
  refuseUnknown(modules);
  const page = result.output.find((part) => part.fileName === 'index.html');
  if (page?.type !== 'asset') throw new Error('the build gave no index.html');
  return withPolicy(String(page.source));
}

/** A file that the page is built from and that sourcesHash does not know would let an old page pass. */
function refuseUnknown(modules: readonly string[]): void {
  const unknown = modules
    .map((path) => relative(PACKAGE_ROOT, path.replace(/\?.*$/, '')))
    .filter((path) => path.startsWith('src/') && !path.startsWith('src/report/html/page/') && !SHARED_SOURCES.includes(path));
  if (unknown.length > 0) throw new Error(`add to SHARED_SOURCES: ${unknown.join(', ')}`);
}

/** Nothing is fetched, and the one script that may run is the one that was built here, whatever stands in the data. */
function withPolicy(html: string): string {
  const script = /<script type="module"[^>]*>([^]*?)<\/script>/.exec(html)?.[1] ?? '';
  const digest = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;
  const head = [
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    `<meta name="lockstep-page" content="${sourcesHash()}" />`,
    `<!--\n${licences()}\n-->`,
  ];
  return html.replace('<meta charset="utf-8" />', (charset) => [charset, ...head].join('\n    '));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) writeFileAtomic(PAGE_FILE, await buildPage());
