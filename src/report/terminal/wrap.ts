import { cellWidth } from './width.ts';

/** Breaks lines between words where they get wider than `cells`; a word that is wider stays whole. Plain text only. */
export function wrap(text: string, cells: number): string[] {
  return text.split('\n').flatMap((line) => (cellWidth(line) <= cells ? [line] : wrapLine(line, cells)));
}

function wrapLine(line: string, cells: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = indent;
  for (const word of line.trimStart().split(' ')) {
    if (current.trim() !== '' && cellWidth(current) + 1 + cellWidth(word) > cells) {
      lines.push(current);
      current = indent + word;
    } else {
      current += current.trim() === '' ? word : ` ${word}`;
    }
  }
  return [...lines, current];
}
