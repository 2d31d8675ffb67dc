import type { AnsweredRequest, AnswersRecord, Repeat } from '#checks/answers/index.ts';
import { medianInterval } from '#core/stats/index.ts';

export interface SpeedRow {
  readonly what: 'time to first token' | 'time between tokens' | 'tokens per second';
  /** Medians over requests, in `unit`. */
  readonly before: number;
  readonly after: number;
  readonly unit: 'ms' | 'tokens/s';
  /** Median of new / old per request, with an interval that holds it; undefined for too few requests. */
  readonly ratio: { readonly median: number; readonly low: number; readonly high: number } | undefined;
  readonly requests: number;
  /** Held against the policy's limit: slower beyond it, within it, or neither shown. */
  readonly verdict: 'slower' | 'not slower' | 'not shown';
}

const ROWS = [
  ['time to first token', 'ms', (r: Repeat) => r.firstTokenMs],
  ['time between tokens', 'ms', (r: Repeat) => r.betweenTokensMs],
  ['tokens per second', 'tokens/s', (r: Repeat) => r.tokensPerSecond],
] as const;

/**
 * Times of the repeated requests, paired by request. All rows together are wrong with 5 % at most (Bonferroni). What is slower: the whole
 * interval beyond the limit; not slower: the whole of it within (non-inferiority). One request at a time, both sides one after
 * the other: a look, not a benchmark.
 */
export function compareSpeed(from: AnswersRecord, to: AnswersRecord, limit: number): readonly SpeedRow[] {
  const others = new Map(to.items.map((item) => [item.request.id, item]));
  return ROWS.flatMap(([what, unit, of]): SpeedRow[] => {
    const pairs = from.items.flatMap((item) => {
      const [a, b] = [middle(item, of), middle(others.get(item.request.id), of)];
      return a === undefined || b === undefined || a === 0 || b === 0 ? [] : [[a, b] as const];
    });
    if (pairs.length === 0) return [];
    const ratio = medianInterval(
      pairs.map(([a, b]) => b / a),
      1 - 0.05 / ROWS.length,
    );
    // Tokens per second are better when there are more.
    const slowdown = ratio === undefined || unit === 'ms' ? ratio : { low: 1 / ratio.high, high: 1 / ratio.low };
    return [
      {
        what,
        unit,
        before: median(pairs.map(([a]) => a)),
        after: median(pairs.map(([, b]) => b)),
        ratio,
        requests: pairs.length,
        verdict:
          slowdown === undefined ? 'not shown' : slowdown.low > limit ? 'slower' : slowdown.high <= limit ? 'not slower' : 'not shown',
      },
    ];
  });
}

function middle(item: AnsweredRequest | undefined, of: (repeat: Repeat) => number | undefined): number | undefined {
  const values = (item?.repeats ?? []).flatMap((repeat) => of(repeat) ?? []);
  return values.length === 0 ? undefined : median(values);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) / 2;
  return (sorted[Math.floor(at)]! + sorted[Math.ceil(at)]!) / 2;
}
