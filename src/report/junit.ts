/** The finished run as JUnit XML: one testcase per claim, grouped by suite; unit tests as one testcase per project. */
import { claimKey } from './claim-name.ts';
import type { RunReport, UnitCounts } from './run-report.ts';
import { formatEvidence } from './terminal/evidence.ts';
import { renderFailedClaim } from './terminal/failure.ts';
import { PLAIN } from './terminal/style.ts';
import type { ClaimResult } from '#checks/lab/result.ts';

export function renderJunit(report: RunReport): string {
  const suites = Map.groupBy(
    report.claims.map((entry) => entry.claim),
    (claim) => claim.suite,
  );
  const parts = [...suites].map(([suite, claims]) => {
    const failed = claims.filter((claim) => claim.status === 'failed').length;
    const skipped = claims.filter((claim) => claim.status === 'not-served').length;
    return testsuite(suite, claims.map(claimCase), { failed, skipped, ms: sum(claims.map((claim) => claim.durationMs)) });
  });
  for (const unit of report.units) {
    parts.push(testsuite(unit.project, unitCases(unit), { failed: unit.failures.length, skipped: 0, ms: unit.durationMs }));
  }
  if (report.errors.length > 0) {
    const cases = report.errors.map((error) =>
      testcase('errors', 'outside of tests', 0, `<error message=${attribute(firstLine(error))}>${text(error)}</error>`),
    );
    parts.push(testsuite('errors', cases, { failed: cases.length, skipped: 0, ms: 0 }));
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="lockstep" time="${seconds(report.durationMs)}" timestamp=${attribute(report.startedAt)}>\n${parts.join('')}</testsuites>\n`;
}

function claimCase(claim: ClaimResult): string {
  const name = `${claimKey(claim.suite, claim.id)}: ${claim.statement}`;
  const evidence = `<system-out>${text([formatEvidence(claim), ...gapLines(claim)].join('\n'))}</system-out>`;
  if (claim.status === 'held') return testcase(claim.suite, name, claim.durationMs, evidence);
  if (claim.status === 'not-served')
    return testcase(claim.suite, name, claim.durationMs, `<skipped message=${attribute(formatEvidence(claim))}/>`);
  const [first] = claim.failures;
  const message = first === undefined ? 'failed' : `${first.code}: ${firstLine(first.text)}`;
  const block = renderFailedClaim(claim, { style: PLAIN, columns: 110 });
  return testcase(
    claim.suite,
    name,
    claim.durationMs,
    `<failure type=${attribute(first?.law ?? '')} message=${attribute(message)}>${text(block)}</failure>${evidence}`,
  );
}

/** A claim that holds but for what its release is known to do wrong. */
function gapLines(claim: ClaimResult): string[] {
  const met = claim.gaps.filter((gap) => gap.met > 0).map((gap) => `known gap met: ${gap.id} (${gap.law}) ${gap.met}×, ${gap.thread}`);
  return [...met, ...claim.gapsGone.map((gap) => `known gap gone: ${gap}`)];
}

function unitCases(unit: UnitCounts): string[] {
  const summary = testcase(unit.project, `${unit.passed} tests passed`, unit.durationMs, '');
  return [
    ...(unit.passed > 0 ? [summary] : []),
    ...unit.failures.map((failure) =>
      testcase(
        failure.file,
        failure.name,
        0,
        `<failure message=${attribute(firstLine(failure.message))}>${text(failure.message)}</failure>`,
      ),
    ),
  ];
}

function testsuite(
  name: string,
  cases: readonly string[],
  counts: { readonly failed: number; readonly skipped: number; readonly ms: number },
): string {
  return `  <testsuite name=${attribute(name)} tests="${cases.length}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}" time="${seconds(counts.ms)}">\n${cases.join('')}  </testsuite>\n`;
}

function testcase(className: string, name: string, ms: number, body: string): string {
  const open = `    <testcase classname=${attribute(className)} name=${attribute(name)} time="${seconds(ms)}"`;
  return body === '' ? `${open}/>\n` : `${open}>${body}</testcase>\n`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function firstLine(value: string): string {
  return value.split('\n', 1)[0] ?? '';
}

function attribute(value: string): string {
  return `"${text(value).replaceAll('"', '&quot;').replaceAll('\n', '&#10;')}"`;
}

/** XML 1.0 allows no control characters but tab, LF and CR, not even escaped, and no lone surrogates. */
function text(value: string): string {
  return (
    value
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
