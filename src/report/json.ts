/** The finished run as JSON, schema version 1 (json-schema.ts). */
import { gapsGone, gapsMet } from './gaps.ts';
import type { JsonReport } from './json-schema.ts';
import type { RunReport } from './run-report.ts';

export function renderJson(report: RunReport): string {
  return `${JSON.stringify(toJsonReport(report), undefined, 2)}\n`;
}

/** The same as data; what may be absent may be undefined in it. */
export function toJsonReport(report: RunReport): JsonReport {
  const claims = report.claims.map((entry) => entry.claim);
  const count = (status: string) => claims.filter((claim) => claim.status === status).length;
  const total = (key: 'passed' | 'failed') => report.units.reduce((sum, unit) => sum + unit[key], 0);
  return {
    schema: 1,
    startedAt: report.startedAt,
    durationMs: report.durationMs,
    outcome: report.outcome,
    header: report.header,
    identityDifferences: report.identityDifferences,
    counts: {
      held: count('held'),
      failed: count('failed'),
      notServed: count('not-served'),
      gapsMet: gapsMet(claims).length,
      unitPassed: total('passed'),
      unitFailed: total('failed'),
    },
    claims: report.claims.map(({ claim, file }) => ({ ...claim, file })),
    gaps: gapsMet(claims),
    gapsGone: gapsGone(claims),
    units: report.units,
    errors: report.errors,
  } as unknown as JsonReport;
}
