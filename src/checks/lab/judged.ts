import { failsUnder } from '#checks/compare/index.ts';
import { type Answer, type Law, type LawContext, type Violation, judge, servesCounts } from '#checks/laws/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Failure } from './result.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Outcome } from './claim.ts';
import type { Lab } from './lab.ts';
import { aboutExchange } from './fixtures.ts';
import { replayOf, viewOf } from './replay.ts';
import { sidesOf } from './sides.ts';
import { type Beside, viewsOf } from './views.ts';

export interface Judged {
  readonly transcript: Transcript;
  readonly truth?: Answer | undefined;
  readonly reference?: Transcript | undefined;
  readonly foreignMarks?: readonly string[] | undefined;
  readonly cancelAfter?: number | undefined;
}

/**
 * The cases with the truth withheld where an answer parts from it in a way that the policy forgives: a flipped answer
 * cannot be the decode of the accepted ids, and how many flipped is counted by `compared`. Under `exact` nothing changes.
 */
export async function forgiven(lab: Lab, cases: readonly Judged[]): Promise<readonly Judged[]> {
  const out: Judged[] = [];
  for (const c of cases) {
    const verdict = c.truth === undefined ? 'identical' : (await lab.judge(c.transcript, c.truth)).verdict;
    out.push(verdict === 'identical' || failsUnder(lab.policy, verdict) ? c : { ...c, truth: undefined });
  }
  return out;
}

/** Laws that speak about generation logits, which an engine may be built without. */
const NEED_MARGINS: readonly string[] = ['greedy-is-argmax'];

/** Laws that speak about counts of tokens, which not every release serves. */
const NEED_COUNTS: readonly string[] = ['prompt-ids', 'count-limit', 'min-tokens'];

/** Laws that speak about log-probabilities, which an ensemble may have no output for. */
const NEED_LOG_PROBS: readonly string[] = ['log-probs-real'];

/** Most failures of one claim look alike: the first few are enough for a reader, the rest are counted. */
const SHOWN = 5;

/**
 * Holds transcripts to laws. A case exercised the claim when at least one of its laws applied to it; a law that applied
 * to none is a failure of its own, since it would hold by vacuum.
 */
export function judged(
  lab: Lab,
  claimId: string,
  cases: readonly Judged[],
  laws: readonly Law[],
  unit: string,
  more: Partial<Outcome> = {},
): Outcome {
  const byTranscript = new Map(cases.map((c) => [c.transcript, c]));
  const contextOf = (t: Transcript): LawContext => {
    const own = byTranscript.get(t);
    return { ...lab.lawContext(own?.truth), reference: own?.reference, foreignMarks: own?.foreignMarks, cancelAfter: own?.cancelAfter };
  };
  const verdict = judge(byTranscript.keys(), laws, contextOf);
  const failures: Failure[] = verdict.violations.map(({ transcript, violation }) =>
    failureOf(lab, claimId, transcript, violation, byTranscript.get(transcript)?.truth, byTranscript.get(transcript)),
  );
  const notes: string[] = [];
  const serves = (route: RouteId, output: string) => lab.missingOutput(route, [output]) === undefined;
  const uncounted = !cases.some(
    ({ transcript: { case: c } }) => servesCounts(c.route, lab.profile) && serves(c.route, 'num_output_tokens'),
  );
  const withoutLogProbs = !cases.some(({ transcript }) => serves(transcript.case.route, 'output_log_probs'));
  for (const law of laws) {
    if (verdict.exercised.get(law.id) !== 0) continue;
    if (uncounted && NEED_COUNTS.includes(law.id))
      notes.push(`this release serves no counts of tokens, so nothing is known about ${law.id}`);
    else if (withoutLogProbs && NEED_LOG_PROBS.includes(law.id))
      notes.push(`the ensemble has no output of log-probabilities, so nothing is known about ${law.id}`);
    else if (lab.withoutMargins && NEED_MARGINS.includes(law.id)) notes.push(`margins not served, so nothing is known about ${law.id}`);
    else if (lab.parts.accepted !== undefined) notes.push(`no golden of this checkpoint shows ${law.id}`);
    else if (lab.parts.only === undefined)
      failures.push({ law: law.id, code: 'not-exercised', text: `none of ${cases.length} cases exercised the law "${law.statement}"` });
  }
  const exercised = cases.filter(({ transcript }) =>
    laws.some(
      (law) => (law.routes === 'all' || law.routes.includes(transcript.case.route)) && law.applies(transcript, contextOf(transcript)),
    ),
  );
  const broken = new Set(verdict.violations.map((v) => v.transcript));
  return {
    n: exercised.length,
    k: broken.size,
    unit,
    rate: false,
    failures: summarised(failures),
    gaps: verdict.gapsMet,
    gapsGone: verdict.gapsGone,
    ...more,
    notes: [...notes, ...(more.notes ?? [])],
  };
}

export function failureOf(
  lab: Lab,
  claimId: string,
  t: Transcript,
  violation: Violation,
  truth?: Answer,
  { reference, cancelAfter }: Beside = {},
): Failure {
  const sides = truth === undefined ? undefined : sidesOf(lab, t, truth);
  const failure: Failure = {
    law: violation.law,
    code: violation.code,
    text: violation.text,
    case: viewOf(t.case),
    ...(sides === undefined ? {} : { sides }),
    ...viewsOf(lab, t, { truth, reference, cancelAfter }),
    replay: replayOf(lab, claimId, t.case.request),
  };
  return aboutExchange(failure, t, truth);
}

export function summarised(failures: readonly Failure[]): readonly Failure[] {
  if (failures.length <= SHOWN) return failures;
  const byLaw = new Map<string, number>();
  for (const f of failures) byLaw.set(f.law, (byLaw.get(f.law) ?? 0) + 1);
  // One of each law first, so that no law is hidden by another's many failures.
  const first = [...byLaw.keys()].map((law) => failures.find((f) => f.law === law)!);
  const rest = failures.filter((f) => !first.includes(f)).slice(0, Math.max(0, SHOWN - first.length));
  return [...first, ...rest];
}
