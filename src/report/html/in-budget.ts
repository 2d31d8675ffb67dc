import type { JsonReport } from '../json-schema.ts';

/** Failures that a page shows in pictures: nobody looks at more, and a file of a hundred megabytes is not opened at all. */
const PICTURED = 400;
/** Compared answers for the tables and curves. */
const COMPARED = 30_000;

/**
 * The report without what would make its page too large to open: of many failures the first of each claim come first, and
 * the others keep their words. The JSON report has everything.
 */
export function inBudget(report: JsonReport): JsonReport {
  const failures = report.claims.flatMap((claim) => claim.failures.map((failure, i) => ({ failure, i })));
  const compared = report.claims.reduce((sum, { cases }) => sum + (cases?.length ?? 0), 0);
  if (failures.length <= PICTURED && compared <= COMPARED) return report;
  const pictured = new Set(
    failures
      .toSorted((a, b) => a.i - b.i)
      .slice(0, PICTURED)
      .map(({ failure }) => failure),
  );
  let room = COMPARED;
  return {
    ...report,
    claims: report.claims.map((claim) => {
      const { cases = [], ...rest } = claim;
      const kept = cases.length <= room ? cases : [];
      room -= kept.length;
      return {
        ...rest,
        failures: claim.failures.map((one) => (pictured.has(one) ? one : inWords(one))),
        ...(kept.length > 0 ? { cases: kept } : {}),
      };
    }),
  };
}

function inWords(failure: JsonReport['claims'][number]['failures'][number]) {
  const { answers: _answers, exchanges: _exchanges, prompts: _prompts, ...words } = failure;
  return words;
}
