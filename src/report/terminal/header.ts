/** The first lines of a run: what is under test and with which settings. */
import type { RunHeader } from '#checks/lab/result.ts';
import { shortHash } from '#core/hash/index.ts';
import type { Canvas } from './style.ts';
import { cellWidth, padEnd } from './width.ts';

const LABEL_CELLS = 10;

export function renderHeader(header: RunHeader, canvas: Canvas): string {
  const { style } = canvas;
  const endpoints = Object.entries(header.endpoints).map(([name, address]) => `${name} ${address}`);
  const identity = Object.entries(folded(header.identity))
    .filter(([, value]) => value !== 'unknown')
    .map(([key, value]) => `${key} ${value}`);
  const unknown = Object.keys(header.identity).filter((key) => header.identity[key] === 'unknown' && !key.startsWith('config of '));
  const row = (label: string, parts: readonly string[]) =>
    flow(parts, canvas.columns - LABEL_CELLS - 2).map((line, i) => `  ${style.dim(padEnd(i === 0 ? label : '', LABEL_CELLS))}${line}`);
  return [
    `${style.bold('lockstep')} ${style.dim('against')} ${style.accent(header.target)}`,
    ...row('endpoints', endpoints),
    ...row('identity', [...identity, ...(unknown.length > 0 ? [`unknown: ${unknown.join(', ')}`] : [])]),
    ...row('run', [`profile ${header.profile}`, `seed ${header.seed}`, `goldens ${header.goldens}`]),
    ...(header.faults.length > 0 ? row('faults', [header.faults.join(', ')]).map((line) => style.warn(line)) : []),
  ].join('\n');
}

/** A repository has many models; `lockstep identify` and the JSON report name the configuration of each. */
function folded(identity: RunHeader['identity']): RunHeader['identity'] {
  const isConfig = ([key]: readonly [string, string]) => key.startsWith('config of ');
  const configs = Object.entries(identity).filter(isConfig);
  if (configs.length === 0) return identity;
  const others = Object.entries(identity).filter((entry) => !isConfig(entry));
  return { ...Object.fromEntries(others), 'configs as loaded': `${shortHash(configs.join('\n'))} of ${configs.length} models` };
}

/** Joins parts with a middle dot, breaking between parts where the line would get too long. */
function flow(parts: readonly string[], cells: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line} · ${part}`;
    if (line !== '' && cellWidth(longer) > cells) {
      lines.push(line);
      line = part;
    } else line = longer;
  }
  return line === '' ? lines : [...lines, line];
}
