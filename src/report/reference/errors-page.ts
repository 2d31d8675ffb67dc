/** docs/errors.md, read from the places where errors are made. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  readonly code: string;
  readonly files: Set<string>;
  readonly hints: Set<string>;
}

const MADE = /new LockstepError\(\s*'([a-z0-9-]+)'/g;

export function errorsPage(root: string): string {
  const entries = new Map<string, Entry>();
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (p) => p.endsWith('.ts') && !p.endsWith('.test.ts'),
  );
  for (const file of files.toSorted()) {
    const source = readFileSync(join(root, 'src', file), 'utf8');
    for (const match of source.matchAll(MADE)) {
      const code = match[1] as string;
      const entry = entries.get(code) ?? { code, files: new Set(), hints: new Set() };
      entries.set(code, entry);
      entry.files.add(file);
      // The hint of this error, if it is a plain text and stands before the next error is made.
      const rest = source.slice(match.index, match.index + 900).split(/new LockstepError\(/)[1] ?? '';
      const hint = /hint:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/.exec(rest);
      const text = hint?.[1] ?? hint?.[2];
      if (text !== undefined) entry.hints.add(text.replaceAll("\\'", "'"));
    }
  }
  return [
    '# Errors',
    '',
    'Every error of this project begins with its code in brackets and ends with a next step. Codes are stable. This page is made from `src/` by `npm run docs`.',
    '',
    '| code | next step | made in |',
    '|---|---|---|',
    ...[...entries.values()]
      .toSorted((a, b) => (a.code < b.code ? -1 : 1))
      .map(
        (e) => `| \`${e.code}\` | ${[...e.hints].join('<br>').replaceAll('|', '\\|')} | ${[...e.files].map((f) => `\`${f}\``).join(' ')} |`,
      ),
    '',
  ].join('\n');
}
