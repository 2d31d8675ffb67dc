/** docs/errors.md, read from the places where errors are made. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsAt, literalsIn } from './source-text.ts';

interface Made {
  readonly code: string;
  readonly hints: readonly string[];
}

export function errorsPage(root: string): string {
  const rows = new Map<string, { readonly hints: Set<string>; readonly files: Set<string> }>();
  const files = [...sources(root, 'src').map((file) => file.slice('src/'.length)), ...sources(root, 'suites')];
  for (const file of files) {
    const path = file.startsWith('suites/') ? file : `src/${file}`;
    for (const { code, hints } of errorsOf(readFileSync(join(root, path), 'utf8'), file)) {
      const row = rows.get(code) ?? { hints: new Set(), files: new Set() };
      rows.set(code, row);
      row.files.add(file);
      for (const hint of hints) row.hints.add(hint);
    }
  }
  return [
    '# Errors',
    '',
    'Every error begins with its code in brackets and, where the reader can do something about it, ends with a next step (nothing is to be done about `interrupted`, which the user asked for). Codes are stable; `…` stands for what only the case can say. Requests that a server refuses are `grpc-<name>` and `http-<status>`. This page is made from `src/` and `suites/` by `npm run docs`.',
    '',
    '| code | next step | made in |',
    '|---|---|---|',
    ...[...rows]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, { hints, files: places }]) => {
        return `| \`${code}\` | ${[...hints].join('<br>').replaceAll('|', '\\|')} | ${[...places].map((f) => `\`${f}\``).join(' ')} |`;
      }),
    '',
  ].join('\n');
}

function sources(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((p) => /\.(ts|js)$/.test(p) && !p.endsWith('.test.ts') && !p.includes('reference'))
    .map((p) => `${folder}/${p}`)
    .toSorted();
}

const NEW = /new LockstepError\(/g;
const FROM = /LockstepError\.from\(/g;
/** The function around a place that makes errors of any code: `withLog(code: string`, `#error(code: string`. */
const HELPER = /(#?\w+)\(code: string/g;

/** Every code that one file makes an error of. An error whose code cannot be read from the source stops the page. */
function errorsOf(source: string, file: string): Made[] {
  const made: Made[] = [];
  for (const match of source.matchAll(NEW)) {
    const args = argumentsAt(source, match.index + match[0].length);
    const first = args[0] ?? '';
    const hints = hintsOf(source, match.index, args.slice(2).join(','));
    const [literal] = literalsIn(first);
    if (literal !== undefined) made.push({ code: literal, hints });
    else made.push(...codesBehind(source, match.index, first, file).map((code) => ({ code, hints })));
  }
  for (const match of source.matchAll(FROM)) {
    const [code] = literalsIn(argumentsAt(source, match.index + match[0].length)[1] ?? '');
    if (code !== undefined) made.push({ code, hints: [] });
  }
  // Before the packaged Node runs there is no LockstepError yet: main.js prints code and next step itself.
  if (file.endsWith('.js')) {
    const hints = literalsIn(source).flatMap((text) => /^ {2}next: (.*)$/.exec(text)?.[1] ?? []);
    for (const [, code] of source.matchAll(/`\[([a-z0-9-]+)\] /g)) made.push({ code: code as string, hints });
  }
  return made;
}

/** The codes that a variable can have: a text made just before, or what the callers of the function give. */
function codesBehind(source: string, at: number, first: string, file: string): string[] {
  const before = source.slice(0, at);
  // The default of `from`: what nobody foresaw.
  if (file.endsWith('core/errors/index.ts')) return ['internal'];
  // Errors that are given on keep their code; the place where they began is on the page.
  if (first.endsWith('.code') || /const \{ code,[^}]*\} = \w+( as LockstepError)?;\s*return $/.test(before)) return [];
  const assigned = before.lastIndexOf(`const ${first} = `);
  const helper = [...before.matchAll(HELPER)].at(-1);
  if (assigned > (helper?.index ?? -1)) return literalsIn(before.slice(assigned).split('\n')[0] ?? '').slice(0, 1);
  const name = helper?.[1];
  if (name !== undefined) {
    const calls = source.split(`${name}('`).slice(1);
    return calls.map((rest) => rest.slice(0, rest.indexOf("'")));
  }
  throw new Error(`src/${file}: the code of an error is not in its source: ${first}`);
}

/** The texts that `hint:` may hold, through a variable of the same function where it names one. */
function hintsOf(source: string, at: number, options: string): string[] {
  const hint = /\bhint(?::\s*([\s\S]*)|\s*[,}])/.exec(options);
  if (hint === null) return [];
  const value = argumentsAt(`${hint[1] ?? 'hint'})`, 0)[0] ?? '';
  const variable = /^\w+$/.exec(value)?.[0];
  if (variable === undefined) return sentences(value);
  const assigned = source.lastIndexOf(`const ${variable} =`, at);
  return assigned < 0 ? [] : sentences(source.slice(assigned, source.indexOf(';', assigned)));
}

function sentences(code: string): string[] {
  return literalsIn(code).filter((text) => text.includes(' '));
}
