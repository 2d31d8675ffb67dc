import { median, type Row } from './rounds.ts';

const HEAD = ['measure', 'median', 'lowest – highest', 'goal', 'met'];

/** A Markdown table, so that it can be pasted as it is. */
export function printTable(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] as string).length)));
  const print = (line: readonly string[]): string => `| ${line.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`;
  return [print(HEAD), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.slice(1).map(print)].join('\n');
}

function cells({ measure, values, unit, goal }: Row): string[] {
  const middle = median(values);
  const spread = `${show(Math.min(...values))} – ${show(Math.max(...values))}`;
  if (goal === undefined) return [measure, `${show(middle)} ${unit}`, spread, '', ''];
  const met = 'atMost' in goal ? middle <= goal.atMost : middle >= goal.atLeast;
  return [
    measure,
    `${show(middle)} ${unit}`,
    spread,
    'atMost' in goal ? `≤ ${show(goal.atMost)} ${unit}` : `≥ ${show(goal.atLeast)} ${unit}`,
    met ? 'yes' : 'no',
  ];
}

function show(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
