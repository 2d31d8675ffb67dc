import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Upgrade } from '../upgrade/verdict.ts';
import { inBudget } from './in-budget.ts';
import type { PageData, RunData } from './page-data.ts';

/** The page without data, built from page/ (build.ts). */
export const PAGE_FILE = join(import.meta.dirname, 'page.html');
export const DATA_MARK = '{{data}}';

/** A run as one HTML file that needs nothing else. */
export function renderHtml(data: RunData): string {
  return withData({ ...data, report: inBudget(data.report) });
}

/** An upgrade as such a file. */
export function renderUpgradeHtml(upgrade: Upgrade): string {
  const side = ({ name, recordedAt, identity, missing, run }: Upgrade['from']) => ({
    name,
    recordedAt,
    identity,
    missing,
    counts: run?.counts,
  });
  return withData({ upgrade: { ...upgrade, from: side(upgrade.from), to: side(upgrade.to) } });
}

function withData(data: PageData): string {
  const page = readFileSync(PAGE_FILE, 'utf8');
  const at = page.indexOf(DATA_MARK);
  return page.slice(0, at) + inert(JSON.stringify(data)) + page.slice(at + DATA_MARK.length);
}

/** JSON that can stand inside a script element: no text in it can end the element, open a comment or be read as a line of script. */
function inert(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
