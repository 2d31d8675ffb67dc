import type { HistoryRun } from './history.ts';

export interface FlakyClaim {
  readonly claim: string;
  /** Of the runs on an identity on which it both held and failed. */
  readonly failed: number;
  readonly runs: number;
  /** ISO 8601. */
  readonly lastFailure: string;
}

/** Claims that held in one run and failed in another on the same identity: nothing that is known had changed. The flakiest first. */
export function flakyClaims(runs: readonly HistoryRun[]): readonly FlakyClaim[] {
  const flaky = new Map<string, FlakyClaim>();
  for (const same of Map.groupBy(runs, ({ identity }) => identity).values()) {
    for (const claim of new Set(same.flatMap(({ failed }) => failed))) {
      const failed = same.filter((run) => run.failed.includes(claim));
      const held = same.filter((run) => run.held.includes(claim));
      if (held.length === 0) continue;
      const before = flaky.get(claim);
      flaky.set(claim, {
        claim,
        failed: failed.length + (before?.failed ?? 0),
        runs: failed.length + held.length + (before?.runs ?? 0),
        lastFailure: [before?.lastFailure ?? '', ...failed.map(({ at }) => at)].sort().at(-1) ?? '',
      });
    }
  }
  return [...flaky.values()].sort((a, b) => b.failed / b.runs - a.failed / a.runs || (a.claim < b.claim ? -1 : 1));
}
