import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { PAGES } from './pages.ts';

test.each(Object.keys(PAGES))('%s says what the code says (npm run docs makes it anew)', (path) => {
  expect(readFileSync(join(PACKAGE_ROOT, path), 'utf8')).toBe(PAGES[path]?.());
});
