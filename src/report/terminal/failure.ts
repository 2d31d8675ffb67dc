/** A failed claim on one screen: which request, where it first differs, how both sides look there, how to replay it. */
import { claimKey } from '../claim-name.ts';
import type { ClaimResult, Failure } from '#checks/lab/result.ts';
import { renderSides } from './sides.ts';
import type { Canvas } from './style.ts';
import { padEnd } from './width.ts';
import { wrap } from './wrap.ts';

const MORE_SHOWN = 4;
const LABEL_CELLS = 9;

/** The whole claim: the first failure in full, some of the others as one line each. */
export function renderFailedClaim(claim: ClaimResult, canvas: Canvas): string {
  const [first, ...others] = claim.failures;
  if (first === undefined) return '';
  const { style } = canvas;
  const lines = [renderFailure(claim, first, canvas)];
  if (others.length > 0) {
    lines.push(`  ${style.dim(padEnd('also', LABEL_CELLS))}${others.length} more:`);
    for (const other of others.slice(0, MORE_SHOWN)) lines.push(`  ${' '.repeat(LABEL_CELLS)}${style.dim('·')} ${oneLine(other)}`);
    if (others.length > MORE_SHOWN)
      lines.push(`  ${' '.repeat(LABEL_CELLS)}${style.dim(`… ${others.length - MORE_SHOWN} more in the JSON report (--json FILE)`)}`);
  }
  return lines.join('\n');
}

export function renderFailure(claim: ClaimResult, failure: Failure, canvas: Canvas): string {
  const { style } = canvas;
  const room = canvas.columns - LABEL_CELLS - 2;
  const row = (label: string, text: string) =>
    wrap(text, room)
      .map((line, i) => `  ${style.dim(padEnd(i === 0 ? label : '', LABEL_CELLS))}${line}`)
      .join('\n');
  const lines = [`${style.bad('✗')} ${style.bold(claimKey(claim.suite, claim.id))}  ${claim.statement}`];
  const judged = new Set([failure.law, failure.code, failure.verdict].filter((word) => word !== undefined && word !== ''));
  const { n, k } = claim.evidence;
  const share = k > 0 ? style.dim(`   ${k} of ${n} broke it`) : '';
  lines.push(`  ${style.dim(padEnd('broken', LABEL_CELLS))}${style.bad([...judged].join(' · '))}${share}`);
  if (failure.case !== undefined) {
    lines.push(row('case', failure.case.label));
    if (!failure.case.label.includes(failure.case.request)) lines.push(row('request', failure.case.request));
    if (failure.case.prompt !== '') lines.push(row('prompt', JSON.stringify(failure.case.prompt)));
  }
  lines.push(row('what', failure.text));
  const sides = renderSides(failure.sides ?? [], { ...canvas, columns: canvas.columns - 4 });
  if (sides.length > 0) lines.push('', ...sides.map((line) => `    ${line}`), '');
  if (failure.fixture !== undefined) lines.push(`  ${style.dim(padEnd('fixture', LABEL_CELLS))}${failure.fixture}`);
  if (failure.replay !== undefined) lines.push(`  ${style.dim(padEnd('replay', LABEL_CELLS))}${style.accent(failure.replay)}`);
  return lines.join('\n');
}

function oneLine(failure: Failure): string {
  const [text = ''] = failure.text.split('\n');
  return [failure.case?.label, `${failure.code}: ${text}`].filter((part) => part !== undefined).join('  ');
}
