/** Terminal cells of a text: what padding and carets must count, not UTF-16 units. */
import { stripVTControlCharacters } from 'node:util';

const ZERO = /[\p{Mn}\p{Me}\p{Cf}]/u;
// East Asian wide and full-width blocks and the emoji planes (Unicode UAX 11, W and F).
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

export function cellWidth(text: string): number {
  let cells = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (!ZERO.test(character)) cells += WIDE.test(character) ? 2 : 1;
  }
  return cells;
}

export function padEnd(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - cellWidth(text)));
}

export function padStart(text: string, cells: number): string {
  return ' '.repeat(Math.max(0, cells - cellWidth(text))) + text;
}

/** Cuts to at most `cells`, the last one an ellipsis. Plain text only. */
export function truncate(text: string, cells: number): string {
  if (cellWidth(text) <= cells) return text;
  let out = '';
  let used = 0;
  for (const character of text) {
    const width = cellWidth(character);
    if (used + width > cells - 1) break;
    out += character;
    used += width;
  }
  return `${out}…`;
}

/** A token as a reader can see it: blanks shown (also as byte-level BPE spells them), control characters escaped. */
export function visibleToken(token: string): string {
  return visibleText(token.replaceAll('Ġ', ' ')).replaceAll(' ', '␣');
}

/** Line breaks, tabs and control characters made visible; blanks stay blanks. */
export function visibleText(text: string): string {
  return text
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replaceAll('\r', '␍')
    .replace(
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
