/** The page of a run, in a real Chromium. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { buildPage } from '#report/html/build.ts';
import { renderHtml, renderUpgradeHtml } from '#report/html/index.ts';
import type { HistoryRun } from '#report/history.ts';
import type { JsonReport } from '#report/json-schema.ts';
import { openChromium } from './chromium.ts';
import { enlarged, failedRun, hostile } from './sample.ts';
import { UPGRADE } from './upgrade-sample.ts';

const CLAIMS = 10_000;
/** To be looked at by whoever changes the page. */
const PICTURES = join(PACKAGE_ROOT, '.cache/report');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'lockstep-page-'));
let browser: Browser;
let run: ReturnType<typeof failedRun>;
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  browser = await openChromium();
  run = failedRun(folder);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** What the browser complained of, and what was asked for beside the file itself. */
  readonly heard: string[];
}

async function open(file: string, options: { readonly dark?: boolean; readonly width?: number } = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
    offline: true,
  });
  const page = await context.newPage();
  const heard: string[] = [];
  page.on('console', (message) => heard.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => heard.push(error.message));
  page.on('dialog', (dialog) => heard.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => request.url() !== `file://${file}` && heard.push(`asked for ${request.url()}`));
  await page.goto(`file://${file}`);
  await page.waitForSelector('h1');
  return { page, heard, [Symbol.asyncDispose]: () => context.close() };
}

function written(name: string, report: JsonReport, history: readonly HistoryRun[] = []): string {
  const file = join(folder, name);
  writeFileSync(file, renderHtml({ report, history }));
  return file;
}

const openAll = (page: Page) =>
  page.evaluate(async () => {
    for (
      let closed = document.querySelectorAll('details:not([open])');
      closed.length > 0;
      closed = document.querySelectorAll('details:not([open])')
    ) {
      for (const one of closed) (one as HTMLDetailsElement).open = true;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

/** One of each kind: axe looks at every element. */
const openSome = async (page: Page) => {
  const kinds = ['.cause', '.claim.failed', '#agreement details', '#position details', '#history details'];
  for (const kind of kinds) await page.locator(`${kind} summary`).first().click();
};

/** Rules that are broken badly, each with where. */
async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const results = await page.evaluate(
    async () => (await (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run()) as AxeResults,
  );
  expect(results.passes.length).toBeGreaterThan(15);
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} (${nodes.length}×) ${nodes[0]?.failureSummary}`);
}

const history: readonly HistoryRun[] = Array.from({ length: 12 }, (_, i) => ({
  schema: 1,
  at: `2026-01-${10 + i}T08:00:00.000Z`,
  outcome: i % 4 === 0 ? 'failed' : 'held',
  series: 'embedded',
  identity: 'one',
  held: i % 4 === 0 ? [] : ['determinism/repeated'],
  failed: i % 4 === 0 ? ['determinism/repeated'] : [],
  tokens: 9000,
  parted: i % 4 === 0 ? 3 : 0,
}));

test('the committed page is what its sources build', async () => {
  const same = (await buildPage()) === readFileSync(join(PACKAGE_ROOT, 'src/report/html/page.html'), 'utf8');
  expect(same, 'page.html is not what npm run build:report makes').toBe(true);
}, 60_000);

test('the page of a failed run opens offline without a complaint, and its first screen says what failed', async () => {
  await using opened = await open(run.html);
  const { page, heard } = opened;
  const { counts, claims } = run.report;
  expect(await page.textContent('h1')).toContain(`${counts.failed} of ${claims.length} claims failed`);
  const titles = await page.locator('.cause .title').allTextContents();
  expect(titles).toContain('a character that is split over tokens came out as U+FFFD');
  expect(titles).toContain('cancel-frees · blocks-held');
  const box = await page.locator('.cause').nth(2).boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(900);
  await openAll(page);
  expect(heard).toEqual([]);
});

test('a failure shows both answers, their bytes and margins, the stream with its cancel, and the prompt', async () => {
  await using opened = await open(run.html);
  const { page } = opened;
  const cause = page.locator('.cause', { hasText: 'U+FFFD' });
  await cause.locator('summary').first().click();
  await expect.poll(() => cause.locator('.divergence .parted').count()).toBeGreaterThan(1);
  expect(await cause.locator('.divergence .bytes').first().textContent()).toMatch(/^[0-9a-f]{2}( [0-9a-f]{2})*$/);
  expect(await cause.locator('.margin').count()).toBeGreaterThan(1);
  expect(await cause.locator('.prompts td').count()).toBeGreaterThan(5);
  await cause.screenshot({ path: join(PICTURES, 'cause.png') });
  const cancelled = page.locator('.cause', { hasText: 'blocks-held' });
  await cancelled.locator('summary').first().click();
  await expect.poll(() => cancelled.locator('.timeline .flag.cancel').count()).toBeGreaterThan(0);
  expect(await cancelled.locator('.timeline figcaption').first().textContent()).toContain('cancelled');
  await cancelled.screenshot({ path: join(PICTURES, 'cancelled.png') });
});

test('one click copies the replay command, as it is', async () => {
  await using opened = await open(run.html);
  const { page } = opened;
  const button = page.getByRole('button', { name: 'Copy replay command' }).first();
  const replay = await button.getAttribute('data-copy');
  expect(replay).toMatch(/^npx lockstep check --profile ideal --fault /);
  await button.click();
  await page.getByText('Copied', { exact: true }).waitFor();
  await page.locator('#filter').focus();
  await page.keyboard.press('Control+V');
  expect(await page.locator('#filter').inputValue()).toBe(replay);
});

test('everything can be reached by keyboard', async () => {
  await using opened = await open(run.html);
  const { page } = opened;
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await page.keyboard.press('Tab');
  expect(await focused()).toContain('Skip to the report');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  expect(await focused()).toContain(await page.locator('.cause .title').nth(1).textContent());
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.locator('.cause').first().locator('.failure').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.closest('.cause') !== null)).toBe(true);
  await page.keyboard.press('/');
  await page.keyboard.type('cancel-mid');
  await expect.poll(() => page.locator('.claim').count()).toBe(1);
});

test.each([{ dark: false }, { dark: true }])(
  'axe finds nothing serious, closed or opened: %o',
  async ({ dark }) => {
    await using opened = await open(written('history.html', run.report, history), { dark });
    const { page } = opened;
    await page.screenshot({ path: join(PICTURES, dark ? 'dark.png' : 'light.png') });
    expect(await axe(page)).toEqual([]);
    await openSome(page);
    expect(await axe(page)).toEqual([]);
    await page.screenshot({ path: join(PICTURES, dark ? 'dark-open.png' : 'light-open.png'), fullPage: true });
  },
  60_000,
);

test('nothing is wider than a narrow window, and on paper causes and suites are open', async () => {
  await using opened = await open(written('history.html', run.report, history), { width: 400, dark: true });
  const { page, heard } = opened;
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
  await page.screenshot({ path: join(PICTURES, 'narrow.png') });
  writeFileSync(join(PICTURES, 'print.pdf'), await page.pdf({ format: 'A4', printBackground: true }));
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.cause > details:not([open]), .suite:not([open])').count()).toBe(0);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('light');
  expect(heard).toEqual([]);
});

test('nothing that a server said is executed, or changes the text around it', async () => {
  await using opened = await open(written('hostile.html', hostile(run.report)));
  const { page, heard } = opened;
  await openAll(page);
  expect(await page.evaluate(() => (globalThis as { executed?: unknown }).executed)).toBeUndefined();
  expect(await page.locator('img, iframe, object, embed').count()).toBe(0);
  expect(await page.locator('script').count()).toBe(2);
  expect(await page.locator('.hidden-character', { hasText: 'U+202E' }).count()).toBeGreaterThan(0);
  const text = await page.evaluate(() => document.getElementById('app')?.textContent ?? '');
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(/.{0,60}[\u0000\u001b\u202e\u2028].{0,20}/.exec(text)).toBeNull();
  expect(heard).toEqual([]);
  await page.screenshot({ path: join(PICTURES, 'hostile.png') });
});

test.each([{ dark: false }, { dark: true }])(
  'the page of an upgrade has verdict, contract, answers and laws, and axe finds nothing serious: %o',
  async ({ dark }) => {
    const file = join(folder, `upgrade-${dark}.html`);
    writeFileSync(file, renderUpgradeHtml(UPGRADE));
    await using opened = await open(file, { dark });
    const { page, heard } = opened;
    expect(await page.textContent('h1')).toContain('REVIEW: process:2.46 → process:2.47');
    await page.locator('#contract .difference.breaking summary').first().click();
    await expect.poll(() => page.locator('#contract .exchange pre').allTextContents()).toContain('400 {"error":"<b>short</b>"}');
    await page.locator('#answers .difference summary').first().click();
    await expect.poll(() => page.locator('#answers .exchange pre').allTextContents()).toEqual([' tea', ' coffee']);
    expect(await page.locator('#laws').textContent()).toContain('protocol/grpc-infer-errors');
    expect(await axe(page)).toEqual([]);
    await page.screenshot({ path: join(PICTURES, dark ? 'upgrade-dark.png' : 'upgrade.png'), fullPage: true });
    await page.locator('#filter').fill('no such change');
    await expect.poll(() => page.locator('#contract .difference').count()).toBe(0);
    expect(heard).toEqual([]);
  },
);

test('nothing in an upgrade is executed either', async () => {
  const file = join(folder, 'upgrade-hostile.html');
  writeFileSync(file, renderUpgradeHtml(hostile(UPGRADE)));
  await using opened = await open(file);
  const { page, heard } = opened;
  await openAll(page);
  expect(await page.evaluate(() => (globalThis as { executed?: unknown }).executed)).toBeUndefined();
  expect(await page.locator('script').count()).toBe(2);
  expect(heard).toEqual([]);
});

test(`${CLAIMS.toLocaleString('en')} claims are there at once, and can be narrowed`, async () => {
  const file = written('large.html', enlarged(run.report, CLAIMS), history);
  await using opened = await open(file);
  const { page, heard } = opened;
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.reload();
  await page.locator('#filter').waitFor();
  const { metrics } = await cdp.send('Performance.getMetrics');
  const busyMs = 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  const ms = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1);
  const megabytes = readFileSync(file).length / 1e6;
  console.log(
    `${CLAIMS} claims, ${megabytes.toFixed(1)} MB: first contentful paint after ${Math.round(ms)} ms, ${Math.round(busyMs)} ms of one core for all of the page`,
  );
  expect(ms).toBeGreaterThan(0);
  await page.locator('#filter').fill('repeated-17');
  await expect.poll(() => page.locator('.claim').count()).toBeGreaterThan(0);
  expect(heard).toEqual([]);
}, 60_000);
