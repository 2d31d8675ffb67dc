/** The end of a run: unit tests, identity differences, gaps, and the one line that people read first. */
import { gapsGone, gapsMet } from '../gaps.ts';
import type { IdentityDifference } from '../provided.ts';
import type { RunReport, UnitCounts } from '../run-report.ts';
import { nothingJudged } from '../run-report.ts';
import { formatDuration } from './duration.ts';
import { renderGaps, renderGapsGone } from './gaps.ts';
import type { Canvas } from './style.ts';
import { cellWidth, padEnd } from './width.ts';
import type { WrittenFiles } from '../write-files.ts';

/** Everything below the failures, blocks separated by blank lines. */
export function renderSummary(report: RunReport, canvas: Canvas, written?: WrittenFiles): string {
  const claims = report.claims.map((entry) => entry.claim);
  const blocks = [
    report.units.map((unit) => renderUnit(unit, canvas)).join('\n'),
    renderGaps(gapsMet(claims), canvas),
    renderGapsGone(gapsGone(claims), canvas),
    renderNothingJudged(report, canvas),
    renderIdentityDifferences(report.identityDifferences, canvas),
    renderWritten(written, canvas),
    renderVerdict(report, canvas),
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function renderUnit(unit: UnitCounts, { style }: Canvas): string {
  const counts = [
    `${unit.passed} passed`,
    ...(unit.failed > 0 ? [style.bad(`${unit.failed} failed`)] : []),
    ...(unit.skipped > 0 ? [`${unit.skipped} skipped`] : []),
  ];
  return `${unit.failed > 0 ? style.bad('✗') : style.good('✓')} ${style.bold(padEnd(unit.project, 12))} ${counts.join(', ')} ${style.dim(formatDuration(unit.durationMs))}`;
}

/** A run that judged nothing proves nothing, so it says why, reason by reason. */
function renderNothingJudged(report: RunReport, { style }: Canvas): string {
  if (!nothingJudged(report.claims)) return '';
  const reasons = Map.groupBy(report.claims, ({ claim }) => claim.evidence.notes[0] ?? 'no reason given');
  const rows = [...reasons].map(([reason, claims]) => `  ${style.bad(reason)}  ${style.dim(`${claims.length}×`)}`);
  return [style.bold(style.bad('nothing was judged: the target serves none of these claims')), ...rows].join('\n');
}

function renderIdentityDifferences(differences: readonly IdentityDifference[], { style }: Canvas): string {
  if (differences.length === 0) return '';
  const keyCells = Math.max(...differences.map((one) => cellWidth(one.key)));
  const goldenCells = Math.max(...differences.map((one) => cellWidth(one.golden)));
  const rows = differences.map(
    (one) => `  ${padEnd(one.key, keyCells)}  ${padEnd(one.golden, goldenCells)} ${style.dim('→')} ${style.warn(one.target)}`,
  );
  return [style.bold(style.warn('the goldens were recorded on another identity')) + style.dim(' (goldens → target)'), ...rows].join('\n');
}

function renderWritten({ html, notes }: WrittenFiles = { html: undefined, notes: [] }, { style }: Canvas): string {
  const report = html === undefined ? [] : [`${style.bold('report')}  ${style.accent(html)}`];
  return [...notes.map((note) => style.warn(note)), ...report].join('\n');
}

function renderVerdict(report: RunReport, { style }: Canvas): string {
  const claims = report.claims.map((entry) => entry.claim);
  const count = (status: string) => claims.filter((claim) => claim.status === status).length;
  const failed = count('failed');
  const parts: string[] = [];
  if (claims.length > 0) {
    const held = `${count('held')} held`;
    parts.push(
      `claims: ${style.good(held)}, ${failed > 0 ? style.bad(`${failed} failed`) : '0 failed'}, ${count('not-served')} not served`,
    );
    parts.push(`known gaps met: ${gapsMet(claims).length}`);
  }
  if (report.units.length > 0) {
    const total = (key: 'passed' | 'failed' | 'skipped') => report.units.reduce((sum, unit) => sum + unit[key], 0);
    const words = [`${total('passed')} passed`, ...(total('failed') > 0 ? [style.bad(`${total('failed')} failed`)] : [])];
    parts.push(`unit tests: ${words.join(', ')}`);
  }
  if (report.errors.length > 0) parts.push(style.bad(`${report.errors.length} errors outside of tests`));
  if (report.outcome === 'interrupted') parts.push(style.warn('interrupted'));
  parts.push(formatDuration(report.durationMs));
  return style.bold(parts.join(' · '));
}
