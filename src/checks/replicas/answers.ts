import type { Comparison } from '#checks/compare/index.ts';

/** What one replica answered to one request, as far as replicas must agree. */
export interface Seen {
  /** Equal answers have equal keys. */
  readonly key: string;
  /** Against the accepted answer of the goldens; undefined: there is none. */
  readonly golden: Comparison['verdict'] | undefined;
}

/** One request on one route, asked of every replica in their order. */
export interface Asked {
  readonly what: string;
  readonly seen: readonly Seen[];
  /** Whether a difference that the policy forgives explains all of it. */
  readonly explained: boolean;
  /** How two of them differ, in words; '' when they do not. */
  readonly difference: string;
}

export interface Verdict {
  /** Requests on which the replicas differ and no policy forgives it. */
  readonly differing: readonly Asked[];
  /** Of every replica: on how many of the `judged` requests it is wrong. */
  readonly odd: readonly number[];
  readonly judged: number;
  /** How it is known who is wrong: `goldens`, `majority`, or nobody can tell. */
  readonly by: 'goldens' | 'majority' | 'nobody';
}

/**
 * Who differs: by the accepted answers where a differing request has one, else by the larger part of the replicas; of
 * two replicas without goldens nobody can say which is wrong.
 */
export function whoDiffers(all: readonly Asked[]): Verdict {
  const differing = all.filter((asked) => !asked.explained && new Set(asked.seen.map(({ key }) => key)).size > 1);
  const accepted = differing.filter(({ seen }) => seen.some(({ golden }) => golden === 'identical'));
  if (accepted.length > 0) {
    const judged = all.filter(({ seen }) => seen.some(({ golden }) => golden !== undefined)).length;
    return { differing, judged, by: 'goldens', odd: wrongs(accepted, ({ golden }) => golden !== 'identical') };
  }
  const decided = differing.flatMap((asked) => {
    const right = majorityOf(asked.seen.map(({ key }) => key));
    return right === undefined ? [] : [{ asked, right }];
  });
  if (decided.length === 0) return { differing, judged: 0, by: 'nobody', odd: [] };
  const odd = decided.map(({ asked, right }) => wrongs([asked], ({ key }) => key !== right));
  return { differing, judged: all.length, by: 'majority', odd: sums(odd) };
}

function wrongs(asked: readonly Asked[], isWrong: (seen: Seen) => boolean): number[] {
  return sums(asked.map(({ seen }) => seen.map((one) => (isWrong(one) ? 1 : 0))));
}

function sums(rows: readonly (readonly number[])[]): number[] {
  return (rows[0] ?? []).map((_, i) => rows.reduce((sum, row) => sum + (row[i] ?? 0), 0));
}

/** The key that more than half of them have. */
function majorityOf(keys: readonly string[]): string | undefined {
  return keys.find((key) => keys.filter((other) => other === key).length * 2 > keys.length);
}
