import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { glob } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { COMMAND_NAMES, PACKAGE_ROOT, parseFlags } from '#core/config/index.ts';
import { COMMANDS } from './command-table.ts';

interface Page {
  readonly file: string;
  readonly text: string;
}

let pages: readonly Page[];
beforeAll(async () => {
  const files = await Array.fromAsync(glob(['README.md', 'docs/**/*.md', 'docker/**/README.md', 'bench/**/*.md'], { cwd: PACKAGE_ROOT }));
  pages = files.toSorted().map((file) => ({ file, text: readFileSync(join(PACKAGE_ROOT, file), 'utf8') }));
});

test('every relative link of a page leads to a file that is there, and to a heading of it', () => {
  const links = pages.flatMap(({ file, text }) =>
    [...withoutCode(text).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map((match) => ({ file, link: match[1]! })),
  );
  expect(links.length).toBeGreaterThan(40);
  const broken = links.filter(({ file, link }) => !leads(file, link)).map(({ file, link }) => `${file}: ${link}`);
  expect(broken).toEqual([]);
});

test('every command line of lockstep in a page and in the examples of help is one that it takes', () => {
  const ofPages = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/npx lockstep ((?:[^`#\n]|\\\n)*)/g)].map((match) => ({ where: file, line: match[1]! })),
  );
  const ofHelp = COMMAND_NAMES.flatMap((name) =>
    COMMANDS[name].examples.map((example) => ({ where: `help ${name}`, line: example.replace(/^lockstep /, '') })),
  );
  expect(ofPages.length).toBeGreaterThan(40);
  const refused = [...ofPages, ...ofHelp].flatMap(({ where, line }) => {
    const [command = '', ...args] = words(line);
    const name = COMMAND_NAMES.find((one) => one === command);
    if (name === undefined) return command === 'help' || command === 'version' ? [] : [`${where}: ${line}: no such command`];
    try {
      parseFlags(name, args);
      return [];
    } catch (error) {
      return [`${where}: ${line}: ${String(error)}`];
    }
  });
  expect(refused).toEqual([]);
});

function leads(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(PACKAGE_ROOT, file) : resolve(PACKAGE_ROOT, dirname(file), path);
  if (relative(PACKAGE_ROOT, target).startsWith('..') || !existsSync(target)) return false;
  if (anchor === undefined || statSync(target).isDirectory()) return anchor === undefined;
  return anchorsOf(readFileSync(target, 'utf8')).has(anchor);
}

/** As GitHub makes them of headings: lower case, spaces as dashes, other punctuation gone, repeated ones numbered. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map((match) => match[1]!));
  for (const [, heading = ''] of withoutCode(text, 'blocks').matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${slug}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(text: string, what: 'blocks' | 'all' = 'all'): string {
  const open = text.replace(/^```[^]*?^```/gm, '');
  return what === 'blocks' ? open : open.replace(/`[^`\n]*`/g, '');
}

/** As a shell reads them, up to a comment, a pipe or a redirection; … stands for a value or for more. */
function words(line: string): string[] {
  const all = [...line.replace(/\\\n/g, ' ').matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/['"]/g, ''));
  const end = all.findIndex((word) => ['|', '>', '&&', '&'].includes(word));
  const command = end === -1 ? all : all.slice(0, end);
  return command.at(-1) === '…' && !command.at(-2)?.startsWith('--') ? command.slice(0, -1) : command;
}
