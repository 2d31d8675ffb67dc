/** `npm run docs`: writes the pages that are made from the code. */
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { PAGES } from './pages.ts';

for (const [path, make] of Object.entries(PAGES)) writeFileAtomic(join(PACKAGE_ROOT, path), make());
