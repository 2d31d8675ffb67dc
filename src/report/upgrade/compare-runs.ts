import { mcnemarExact } from '#core/stats/index.ts';
import type { JsonReport } from '../json-schema.ts';

export interface ClaimChange {
  /** `suite/claim`. */
  readonly id: string;
  readonly statement: string;
  /** The first failure, or why it is not served; of the side that has it. */
  readonly text: string;
  readonly laws: readonly string[];
}

export interface GapChange {
  readonly id: string;
  readonly law: string;
  readonly thread: string;
}

export interface RunsComparison {
  readonly newlyBroken: readonly ClaimChange[];
  readonly mended: readonly ClaimChange[];
  readonly stillBroken: readonly ClaimChange[];
  readonly notServedAnyMore: readonly ClaimChange[];
  readonly newlyServed: readonly ClaimChange[];
  readonly gaps: { readonly fixed: readonly GapChange[]; readonly new: readonly GapChange[]; readonly still: readonly GapChange[] };
  /** Claims that both runs judged, and that held on both. */
  readonly judged: number;
  readonly held: number;
  /** Exact McNemar test on claims that changed; two-sided. */
  readonly p: number;
}

type ClaimEntry = JsonReport['claims'][number];

/** Every law and every known gap on both sides, from two reports of the suite. */
export function compareRuns(from: JsonReport, to: JsonReport): RunsComparison {
  const before = new Map(from.claims.map((claim) => [keyOf(claim), claim]));
  const pairs = to.claims.flatMap((claim) => {
    const old = before.get(keyOf(claim));
    return old === undefined ? [] : [{ old, now: claim }];
  });
  const pick = (was: ClaimEntry['status'], is: ClaimEntry['status']) =>
    pairs.filter(({ old, now }) => old.status === was && now.status === is).map(({ old, now }) => change(is === 'held' ? old : now));
  const broke = pick('held', 'failed');
  const mended = pick('failed', 'held');
  const [a, b] = [from, to].map(({ gaps }) => new Map(gaps.filter(({ met }) => met > 0).map((gap) => [gap.id, gap])));
  const gaps = (of: ReadonlyMap<string, GapChange>, keep: (id: string) => boolean) =>
    [...of.values()].filter(({ id }) => keep(id)).map(({ id, law, thread }) => ({ id, law, thread }));
  return {
    newlyBroken: [...broke, ...pick('not-served', 'failed')],
    mended,
    stillBroken: pick('failed', 'failed'),
    notServedAnyMore: [...pick('held', 'not-served'), ...pick('failed', 'not-served')],
    newlyServed: pick('not-served', 'held'),
    gaps: { fixed: gaps(a!, (id) => !b!.has(id)), new: gaps(b!, (id) => !a!.has(id)), still: gaps(b!, (id) => a!.has(id)) },
    judged: pairs.filter(({ old, now }) => old.status !== 'not-served' && now.status !== 'not-served').length,
    held: pick('held', 'held').length,
    p: mcnemarExact(broke.length, mended.length),
  };
}

const keyOf = ({ suite, id }: ClaimEntry): string => `${suite}/${id}`;

function change(claim: ClaimEntry): ClaimChange {
  const text = claim.failures[0]?.text ?? (claim.status === 'not-served' ? (claim.evidence.notes[0] ?? '') : '');
  return { id: keyOf(claim), statement: claim.statement, text, laws: claim.laws };
}
