/** The notices of what is built into the page, as their licences ask. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';

export function licences(): string {
  const texts = ['preact', 'uplot'].map(
    (name) => `${name}\n${readFileSync(join(PACKAGE_ROOT, 'node_modules', name, 'LICENSE'), 'utf8').trim()}`,
  );
  return texts.join('\n\n').replaceAll('--', '- -');
}
