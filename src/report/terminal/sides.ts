/** Two answers side by side around the place where they part: token texts, ids below, a caret under the place. */
import type { SideView } from '#checks/lab/result.ts';
import type { Canvas } from './style.ts';
import { cellWidth, padEnd, truncate, visibleText, visibleToken } from './width.ts';

const BEFORE = 4;
const AFTER = 4;
const NAME_CELLS = 10;
const TOKEN_CELLS = 16;

export function renderSides(sides: readonly SideView[], canvas: Canvas): readonly string[] {
  if (sides.length === 0) return [];
  const [first, ...others] = sides.map((side) => side.text);
  // Text routes show no ids; there the characters are the finest thing to compare.
  const byText = sides.every((side) => side.ids.length === 0) && others.some((text) => text !== first);
  return byText || sides.every((side) => side.tokens.length === 0) ? renderTexts(sides, canvas) : renderTokens(sides, canvas);
}

function renderTokens(sides: readonly SideView[], { style, columns }: Canvas): string[] {
  const at = Math.min(...sides.map((side) => side.at));
  const position = Math.min(...sides.map((side) => side.position));
  const longest = Math.max(...sides.map((side) => side.tokens.length));
  let from = Math.max(0, at - BEFORE);
  let to = Math.min(longest, at + AFTER + 1);
  const nameCells = Math.max(NAME_CELLS, ...sides.map((side) => cellWidth(side.name) + 2));
  const cellsOf = (column: number) =>
    Math.max(...sides.map((side) => Math.max(cellWidth(tokenAt(side, column)), cellWidth(idAt(side, column))))) + 2;
  const total = () => sum(range(from, to).map(cellsOf));
  while (total() > columns - nameCells - 4 && to - from > 1) {
    if (to - 1 > at) to--;
    else from++;
  }
  const columnsShown = range(from, to);
  const row = (cell: (column: number) => string, paint: (text: string, column: number) => string) =>
    columnsShown.map((column) => paint(padEnd(cell(column), cellsOf(column)), column)).join('');
  const place = (text: string, column: number) => (column === at ? style.bad(text) : column > at ? style.dim(text) : text);
  const lines: string[] = [];
  for (const side of sides) {
    const margin = side.margin === undefined ? '' : style.dim(`margin ${side.margin.toPrecision(3)}`);
    const start = from > 0 || position > at ? '… ' : '  ';
    lines.push(
      `${padEnd(side.name, nameCells)}${start}${row((c) => tokenAt(side, c), place)}${to < side.tokens.length ? '… ' : '  '}${margin}`.trimEnd(),
    );
    if (side.ids.length > 0)
      lines.push(
        `${' '.repeat(nameCells)}  ${row(
          (c) => idAt(side, c),
          (text) => style.dim(text),
        )}`.trimEnd(),
      );
  }
  const before = sum(range(from, at).map(cellsOf));
  const caret = '^'.repeat(Math.max(1, ...sides.map((side) => cellWidth(tokenAt(side, at)))));
  lines.push(`${' '.repeat(nameCells + 2 + before)}${style.bad(caret)} ${style.dim(`token ${position}`)}`);
  return lines;
}

/** Only texts were compared: an excerpt around the first character that differs. */
function renderTexts(sides: readonly SideView[], { style, columns }: Canvas): string[] {
  const at = firstDifference(sides.map((side) => side.text));
  const nameCells = Math.max(NAME_CELLS, ...sides.map((side) => cellWidth(side.name) + 2));
  const room = Math.max(20, columns - nameCells - 6);
  const before = Math.min(at, Math.floor(room / 2));
  const cut = at - before;
  const position = sides[0]?.position ?? at;
  const lead = cut > 0 || position > at ? '…' : '';
  const lines = sides.map((side) => `${padEnd(side.name, nameCells)}“${lead}${truncate(excerpt(side.text, cut, at), room)}”`);
  const prefix = visibleText((sides[0]?.text ?? '').slice(cut, at));
  lines.push(`${' '.repeat(nameCells + 1 + cellWidth(lead) + cellWidth(prefix))}${style.bad('^')} ${style.dim(`character ${position}`)}`);
  return lines;
}

/** The text from `cut` on; a blank at the place itself is shown, since a caret under nothing helps nobody. */
function excerpt(text: string, cut: number, at: number): string {
  const place = text.charAt(at) === ' ' ? '␣' : visibleText(text.charAt(at));
  return visibleText(text.slice(cut, at)) + place + visibleText(text.slice(at + 1));
}

function tokenAt(side: SideView, column: number): string {
  const token = side.tokens[column];
  if (token === undefined) return column === side.tokens.length ? '∎' : '';
  return truncate(visibleToken(token), TOKEN_CELLS);
}

function idAt(side: SideView, column: number): string {
  return String(side.ids[column] ?? '');
}

/** Never inside a surrogate pair. */
function firstDifference(texts: readonly string[]): number {
  const [first = '', ...rest] = texts;
  let at = 0;
  while (at < first.length && rest.every((text) => text[at] === first[at])) at++;
  const code = first.charCodeAt(at - 1);
  return at > 0 && code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
