/** What a claim rests on, in one phrase: `240/240 answers, ≤ 1.3 % differ (95 %)`. */
import { formatBound } from '#core/stats/index.ts';
import type { ClaimResult } from '#checks/lab/result.ts';

/** Why a claim as a whole could not be judged, by the code of its failure (claim.ts). */
const UNJUDGED: Readonly<Record<string, string>> = {
  'not-exercised': 'nothing exercised it',
  'claim-crashed': 'broken off by an error',
  'claim-unfinished': 'did not end in time',
  'test-failed': 'its test failed',
};
const LAWS_NAMED = 2;

/** Of a claim, whether it comes from the run or from its JSON. */
export interface Evidenced extends Pick<ClaimResult, 'status'> {
  readonly evidence: Omit<ClaimResult['evidence'], 'bound'> & { readonly bound?: number | undefined };
  readonly failures: readonly { readonly law: string; readonly code: string }[];
}

export function formatEvidence(claim: Evidenced): string {
  const { n, k, bound, unit, notes } = claim.evidence;
  if (claim.status === 'not-served') return ['not served', ...notes].join(': ');
  const counts = n === 0 ? [] : [`${n - k}/${n} ${unit}`, ...(bound === undefined ? [] : [`≤ ${formatBound(bound)} differ (95 %)`])];
  return [...counts, ...broken(claim), ...notes].join(', ');
}

/** The laws by name: with them a reader of one line knows the defect. */
function broken(claim: Evidenced): string[] {
  if (claim.status !== 'failed') return [];
  const words = claim.failures.map(({ law, code }) =>
    law === '' ? (UNJUDGED[code] ?? code) : code === 'not-exercised' ? `${law} not exercised` : `breaks ${law}`,
  );
  const distinct = [...new Set(words)];
  const more = distinct.length - LAWS_NAMED;
  return [...distinct.slice(0, LAWS_NAMED), ...(more > 0 ? [`and ${more} more`] : [])];
}
