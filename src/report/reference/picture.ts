/**
 * `npm run docs:picture`: terminal output with ANSI colours from standard input becomes an SVG on standard output, so
 * that the README shows what was really printed.
 */
import { text as readAll } from 'node:stream/consumers';

const COLUMNS = 108;
const CELL = { width: 7.8, height: 17 };
const COLOURS: Readonly<Record<number, string>> = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' };

interface Pen {
  readonly colour: string | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
}

const RESET: Pen = { colour: undefined, bold: false, dim: false };

const lines = (await readAll(process.stdin)).trimEnd().split('\n');
const first = lines.findIndex((line) => line.trim() !== '');
process.stdout.write(svg(lines.slice(first)));

function svg(shown: readonly string[]): string {
  const width = Math.ceil(COLUMNS * CELL.width) + 24;
  const height = shown.length * CELL.height + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">`,
    `<rect width="100%" height="100%" rx="6" fill="#0d1117"/>`,
    ...shown.map((line, i) => `<text x="12" y="${12 + (i + 0.8) * CELL.height}" xml:space="preserve" fill="#e6edf3">${spans(line)}</text>`),
    '</svg>\n',
  ].join('\n');
}

function spans(line: string): string {
  let pen = RESET;
  let room = COLUMNS;
  let out = '';
  // oxlint-disable-next-line no-control-regex -- escape sequences are what is read
  for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
    // oxlint-disable-next-line no-control-regex -- as above
    const codes = /^\u001b\[([0-9;]*)m$/.exec(part);
    if (codes !== null) {
      pen = (codes[1] ?? '').split(';').map(Number).reduce(changed, pen);
      continue;
    }
    const seen = Array.from(part).slice(0, room).join('');
    room -= Array.from(seen).length;
    if (seen !== '') out += `<tspan${styled(pen)}>${escaped(seen)}</tspan>`;
  }
  return out;
}

function changed(pen: Pen, code: number): Pen {
  if (code === 0) return RESET;
  if (code === 1) return { ...pen, bold: true };
  if (code === 2) return { ...pen, dim: true };
  if (code === 22) return { ...pen, bold: false, dim: false };
  return code === 39 || code in COLOURS ? { ...pen, colour: COLOURS[code] } : pen;
}

function styled({ colour, bold, dim }: Pen): string {
  return `${colour === undefined ? '' : ` fill="${colour}"`}${bold ? ' font-weight="bold"' : ''}${dim ? ' fill-opacity="0.6"' : ''}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
