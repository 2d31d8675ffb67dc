/** The gaps of a whole run, over all claims. */
import { claimKey } from './claim-name.ts';
import type { ClaimResult } from '#checks/lab/result.ts';

export interface Gap {
  readonly id: string;
  readonly law: string;
  readonly thread: string;
  /** Times that it was met, over all claims. */
  readonly met: number;
}

export function gapsMet(claims: readonly ClaimResult[]): readonly Gap[] {
  const byId = new Map<string, Gap>();
  for (const gap of claims.flatMap((claim) => claim.gaps)) {
    if (gap.met === 0) continue;
    byId.set(gap.id, { id: gap.id, law: gap.law, thread: gap.thread, met: gap.met + (byId.get(gap.id)?.met ?? 0) });
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A gap is gone only if no claim met it. */
export function gapsGone(claims: readonly ClaimResult[]): readonly { readonly gap: string; readonly claim: string }[] {
  const met = new Set(gapsMet(claims).map((gap) => gap.id));
  const gone = new Map<string, string>();
  for (const claim of claims) {
    for (const gap of claim.gapsGone) if (!met.has(gap) && !gone.has(gap)) gone.set(gap, claimKey(claim.suite, claim.id));
  }
  return [...gone].map(([gap, claim]) => ({ gap, claim }));
}
