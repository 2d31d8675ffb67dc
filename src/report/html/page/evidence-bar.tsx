/** What a claim rests on as a bar: the rate that was seen (dark) and the rate that it cannot exceed (light), on a log scale. */
import type { JSX } from 'preact';
import type { RunData } from '../page-data.ts';

type Claim = RunData['report']['claims'][number];

/** From one in a thousand to one: three decades. */
const LEAST = 1e-3;

export function EvidenceBar({ evidence, status }: { readonly evidence: Claim['evidence']; readonly status: Claim['status'] }): JSX.Element {
  const { n, k, bound } = evidence;
  if (n === 0) return <span class="bar none" aria-hidden="true" />;
  const seen = k / n;
  return (
    <span class={`bar ${status} ${bound === undefined ? 'structural' : ''}`} aria-hidden="true">
      {bound !== undefined && <i class="bound" style={{ width: `${place(bound)}%` }} />}
      {k > 0 && <i class="seen" style={{ width: `${place(seen)}%` }} />}
    </span>
  );
}

export function EvidenceLegend(): JSX.Element {
  return (
    <p class="legend">
      Bars: <i class="swatch seen" /> the share of cases that differed or broke the law, k of n; <i class="swatch bound" /> what the true
      rate stays below at 95 %, so a short bar is a strong claim; log scale from 0.1 % to 100 %. A claim without a light bar is broken by
      one counter-example. <b>~</b> marks known gaps.
    </p>
  );
}

function place(rate: number): number {
  return rate <= LEAST ? 2 : Math.min(100, 2 + 98 * (1 - Math.log10(rate) / Math.log10(LEAST)));
}
