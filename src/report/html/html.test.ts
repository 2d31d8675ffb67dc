import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonReport } from '../json-schema.ts';
import { inBudget } from './in-budget.ts';
import { renderHtml } from './index.ts';
import { sourcesHash } from './page-sources.ts';
import { PAGE_FILE } from './render-html.ts';

const HOSTILE = '</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> \u2028\u2029 $& {{data}} \u0000 \u202e \ud800';

function reportSaying(text: string): JsonReport {
  return {
    schema: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1,
    outcome: 'broken',
    identityDifferences: [],
    counts: { held: 0, failed: 0, notServed: 0, gapsMet: 0, unitPassed: 0, unitFailed: 0 },
    claims: [],
    gaps: [],
    gapsGone: [],
    units: [],
    errors: [text],
  };
}

const CLAIM: JsonReport['claims'][number] = {
  id: 'one',
  suite: 'streaming',
  statement: '',
  file: '',
  routes: [],
  laws: [],
  status: 'failed',
  evidence: { n: 2, k: 2, unit: 'answers', notes: [] },
  failures: [],
  gaps: [],
  gapsGone: [],
  durationMs: 1,
};

test('the page is built from its sources as they are (npm run build:report makes it anew)', () => {
  expect(/<meta name="lockstep-page" content="(\w+)"/.exec(readFileSync(PAGE_FILE, 'utf8'))?.[1]).toBe(sourcesHash());
});

test('what a server said stands in the page as data, and ends nothing there', () => {
  const html = renderHtml({ report: reportSaying(HOSTILE), history: [] });
  const before = readFileSync(PAGE_FILE, 'utf8').split('{{data}}')[0] ?? '';
  const data = html.slice(before.length, html.indexOf('</script>', before.length));
  expect(data).not.toMatch(/[<>&\u2028\u2029]/);
  expect(JSON.parse(data)).toMatchObject({ report: { errors: [HOSTILE] } });
});

test('nothing is fetched from elsewhere, and one script may run', () => {
  const page = readFileSync(PAGE_FILE, 'utf8');
  expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[\w+/]+=';/);
  expect(page).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="?(?:https?:|\/)/);
});

test('a page of very many failures keeps the pictures of the first of each claim, and the words of all', () => {
  const failure = { law: 'a', code: 'b', text: 'c', prompts: [{ name: 'd', ids: [1], tokens: ['e'], total: 1 }] };
  const claim = { ...CLAIM, failures: [failure, failure].map((one) => ({ ...one })) };
  const claims = Array.from({ length: 300 }, () => structuredClone(claim));
  const kept = inBudget({ ...reportSaying(''), claims }).claims.map(({ failures }) =>
    failures.map(({ prompts, text }) => [prompts !== undefined, text]),
  );
  expect(kept.every(([first]) => first?.[0] === true)).toBe(true);
  expect(kept.flat().filter(([pictured]) => pictured)).toHaveLength(400);
  expect(kept.flat().every(([, text]) => text === 'c')).toBe(true);
});
