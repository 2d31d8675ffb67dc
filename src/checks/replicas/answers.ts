/** What one replica answered to one request, as far as replicas must agree. */
export interface Seen {
  /** Equal answers have equal keys. */
  readonly key: string;
  /** Whether the policy takes it for what the first replica answered. */
  readonly asFirst: boolean;
  /** Whether the policy takes it for the accepted answer of the goldens; undefined: there is none. */
  readonly accepted: boolean | undefined;
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
  /** Of every replica: on how many of the differing requests, which are among the `judged` ones, it is wrong. */
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
  const told = differing.filter(({ seen }) => [true, false].every((is) => seen.some(({ accepted }) => accepted === is)));
  if (told.length > 0) {
    const judged = all.filter(({ seen }) => seen.some(({ accepted }) => accepted !== undefined)).length;
    return { differing, judged, by: 'goldens', odd: sums(told.map(({ seen }) => seen.map(({ accepted }) => accepted === false))) };
  }
  const decided = differing.flatMap(({ seen }) => {
    const right = majorityOf(seen.map(({ key }) => key));
    if (right === undefined) return [];
    return [seen.map(({ key, asFirst }) => key !== right && !(asFirst && seen[0]?.key === right))];
  });
  if (decided.length === 0) return { differing, judged: 0, by: 'nobody', odd: [] };
  return { differing, judged: all.length, by: 'majority', odd: sums(decided) };
}

function sums(rows: readonly (readonly boolean[])[]): number[] {
  return (rows[0] ?? []).map((_, i) => rows.filter((row) => row[i]).length);
}

/** The key that more than half of them have. */
function majorityOf(keys: readonly string[]): string | undefined {
  return keys.find((key) => keys.filter((other) => other === key).length * 2 > keys.length);
}
