import { type Comparison, failsUnder, tally } from '#checks/compare/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import type { ComparedCase, Failure } from './result.ts';
import { formatBound, hazardBound } from '#core/stats/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Outcome } from './claim.ts';
import { unanswered } from './compare-one.ts';
import { summarised } from './judged.ts';
import type { Lab } from './lab.ts';
import { aboutExchange } from './fixtures.ts';
import { replayOf, viewOf } from './replay.ts';
import { sidesOf } from './sides.ts';
import { viewsOf } from './views.ts';

export interface Compared {
  readonly transcript: Transcript;
  readonly truth: Answer;
  /** Answers of other requests that ran at the same time, to recognise contamination. */
  readonly foreign?: readonly { readonly request: string; readonly text: string }[];
}

/**
 * Compares answers with accepted ones and says what that proves: counts by verdict, a bound per answer, and where ids are
 * seen (route raw) one per token: every token up to the first divergence counts, since after it everything differs.
 */
export async function compared(
  lab: Lab,
  claimId: string,
  law: string,
  cases: readonly Compared[],
  unit: string,
  more: Partial<Outcome> = {},
): Promise<Outcome> {
  let tokens = 0;
  let parted = 0;
  const failures: Failure[] = [];
  const comparisons: Comparison[] = [];
  const rows: ComparedCase[] = [];
  for (const c of cases) {
    const comparison = await lab.judge(c.transcript, c.truth, c.foreign === undefined ? {} : { foreign: c.foreign });
    comparisons.push(comparison);
    const { case: asked } = c.transcript;
    const seen = asked.route === 'raw' ? tokensUntilParted(c.truth, comparison) : undefined;
    rows.push({
      request: asked.request.id,
      route: asked.route,
      mode: asked.mode,
      verdict: comparison.verdict,
      atOnce: lab.atOnce(c.transcript),
      ...(seen === undefined ? {} : { tokens: seen }),
    });
    if (seen !== undefined) {
      tokens += seen;
      if (comparison.verdict !== 'identical') parted++;
    }
    if (!failsUnder(lab.policy, comparison.verdict)) continue;
    const sides = sidesOf(lab, c.transcript, c.truth);
    const failure: Failure = {
      law: lawOf(lab, law, c, comparison),
      code: comparison.verdict,
      text: comparison.text,
      verdict: comparison.verdict,
      case: viewOf(c.transcript.case),
      ...(sides === undefined ? {} : { sides }),
      ...viewsOf(lab, c.transcript, { truth: c.truth }),
      replay: replayOf(lab, claimId, c.transcript.case.request),
    };
    failures.push(aboutExchange(failure, c.transcript, c.truth));
  }
  const total = tally(comparisons);
  const notes = Object.entries(total.counts)
    .filter(([v, n]) => v !== 'identical' && n > 0)
    .map(([v, n]) => `${n} ${v}`);
  const perToken = tokens > 0 ? [`≤ ${formatBound(hazardBound(parted, tokens))} per token`] : [];
  return {
    ...more,
    n: total.n,
    k: total.n - total.counts.identical,
    unit,
    rate: true,
    failures: summarised(failures),
    verdict: total.worst,
    cases: rows,
    notes: [...notes, ...perToken, ...(more.notes ?? [])],
  };
}

/** After the first divergence everything differs, so nothing more is seen of such an answer. */
function tokensUntilParted(truth: Answer, { verdict, divergence }: Comparison): number {
  return verdict === 'identical' ? truth.ids.length : (divergence?.token ?? 0);
}

/** A comparison can break another law than the one it was made for: ids are seen on raw only, and some differences have a name. */
function lawOf(lab: Lab, law: string, { transcript }: Compared, { verdict }: Comparison): string {
  if (verdict === 'contaminated') return 'no-contamination';
  if (unanswered(transcript, lab) !== undefined) return 'answers-at-all';
  return law === 'same-ids' && transcript.case.route !== 'raw' ? 'same-text' : law;
}
