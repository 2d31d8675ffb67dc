/** The run in Markdown, for GitHub's job summary (GITHUB_STEP_SUMMARY) or a comment. */
import { claimKey } from './claim-name.ts';
import type { JsonReport } from './json-schema.ts';
import { rootCauses } from './root-causes.ts';
import { formatDuration } from './terminal/duration.ts';
import { formatEvidence } from './terminal/evidence.ts';

const CAUSES_SHOWN = 10;
const TEXT_SHOWN = 300;
/** GitHub takes a megabyte of all steps together. */
const CLAIMS_SHOWN = 1_000;

export function renderJobSummary(report: JsonReport): string {
  const { counts, claims, header, gaps, gapsGone, identityDifferences, units, errors } = report;
  const causes = rootCauses(claims);
  const lines = [`## Lockstep: ${sentence(report)}`, ''];
  const where = header === undefined ? [] : [`target ${code(header.target)}`, `profile ${code(header.profile)}`, `seed ${header.seed}`];
  lines.push([...where, formatDuration(report.durationMs)].join(' · '), '');
  lines.push('| claims held | failed | not served | known gaps met | unit tests |', '|---|---|---|---|---|');
  lines.push(
    `| ${counts.held} | ${counts.failed} | ${counts.notServed} | ${counts.gapsMet} | ${counts.unitPassed} passed, ${counts.unitFailed} failed |`,
    '',
  );
  if (causes.length > 0) lines.push('### What failed, by cause', '');
  for (const cause of causes.slice(0, CAUSES_SHOWN)) {
    const [first] = cause.members;
    if (first === undefined) continue;
    lines.push(`- **${text(cause.title)}**: ${cause.members.length} failures in ${cause.claims.map(code).join(', ')}`);
    lines.push(`  - ${code(first.failure.text.split('\n', 1)[0] ?? '')}`);
    if (first.failure.replay !== undefined) lines.push(`  - replay: ${code(first.failure.replay)}`);
  }
  if (causes.length > CAUSES_SHOWN) lines.push(`- and ${causes.length - CAUSES_SHOWN} more causes, in the HTML report`);
  for (const unit of units) for (const { name, file } of unit.failures) lines.push(`- ${code(file)} ${text(name)}`);
  for (const error of errors) lines.push(`- error outside of tests: ${code(error.split('\n', 1)[0] ?? '')}`);
  if (identityDifferences.length > 0) {
    lines.push('', '### The goldens were recorded on another identity', '', '| | goldens | target |', '|---|---|---|');
    for (const { key, golden, target } of identityDifferences) lines.push(`| ${text(key)} | ${code(golden)} | ${code(target)} |`);
  }
  if (gaps.length > 0) {
    lines.push('', '### Known gaps met', '', '| gap | law | met | thread |', '|---|---|---|---|');
    for (const { id, law, met, thread } of gaps) lines.push(`| ${text(id)} | ${text(law)} | ${met} | ${text(thread)} |`);
  }
  for (const { gap, claim } of gapsGone) lines.push(`- known gap **gone**: ${text(gap)} (exercised by ${code(claim)})`);
  if (claims.length > 0 && claims.length <= CLAIMS_SHOWN) {
    lines.push('', `<details><summary>All ${claims.length} claims</summary>`, '', '| | claim | evidence |', '|---|---|---|');
    for (const claim of claims)
      lines.push(`| ${MARKS[claim.status]} | ${code(claimKey(claim.suite, claim.id))} | ${text(formatEvidence(claim))} |`);
    lines.push('', '</details>');
  }
  return `${lines.join('\n')}\n`;
}

const MARKS = { failed: '✗', held: '✓', 'not-served': '○' };

function sentence({ outcome, counts, claims }: JsonReport): string {
  if (outcome === 'held') return `all ${counts.held} claims hold`;
  if (outcome === 'broken') return 'nothing was judged';
  const failed = counts.failed > 0 ? `${counts.failed} of ${claims.length} claims failed` : `${counts.unitFailed} unit tests failed`;
  return outcome === 'interrupted' ? `interrupted, ${counts.failed} claims failed before` : failed;
}

/** As code: a run of backticks longer than any inside, and no line or cell ends within. */
function code(value: string): string {
  const line = shortened(value).replaceAll('|', '\\|');
  if (line.trim() === '') return '';
  const ticks = '`'.repeat(1 + Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)));
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** As text: nothing of it is markup. */
function text(value: string): string {
  return shortened(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/[\\`*_[\]|~#]/g, '\\$&');
}

function shortened(value: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const line = value.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ');
  return line.length > TEXT_SHOWN ? `${line.slice(0, TEXT_SHOWN - 1).toWellFormed()}…` : line;
}
