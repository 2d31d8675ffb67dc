import { type Comparison, compareIds, compareText, failsUnder, tally } from '#checks/compare/index.ts';
import { type Answer, answerOf } from '#checks/laws/index.ts';
import type { Failure } from './result.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Outcome } from './claim.ts';
import { summarised } from './judged.ts';
import type { Lab } from './lab.ts';
import { replayOf, viewOf } from './replay.ts';
import { sidesOf } from './sides.ts';

export interface Compared {
  readonly transcript: Transcript;
  readonly truth: Answer;
  /** Answers of other requests that ran at the same time, to recognise contamination. */
  readonly foreign?: readonly { readonly request: string; readonly text: string }[];
}

/** Compares answers with accepted ones and says what that proves: counts by verdict and a bound. */
export function compared(
  lab: Lab,
  claimId: string,
  law: string,
  cases: readonly Compared[],
  unit: string,
  more: Partial<Outcome> = {},
): Outcome {
  let tokens = 0;
  const failures: Failure[] = [];
  const comparisons: Comparison[] = [];
  for (const c of cases) {
    const comparison = compareOne(lab, c);
    comparisons.push(comparison);
    tokens += comparison.divergence?.token ?? c.truth.ids.length;
    if (!failsUnder(lab.policy, comparison.verdict)) continue;
    const sides = sidesOf(lab, c.transcript, c.truth);
    failures.push({
      law: lawOf(law, c, comparison),
      code: comparison.verdict,
      text: comparison.text,
      verdict: comparison.verdict,
      case: viewOf(c.transcript.case),
      ...(sides === undefined ? {} : { sides }),
      replay: replayOf(lab, claimId, c.transcript.case.request),
    });
  }
  const total = tally(comparisons, tokens, lab.policy);
  const notes = Object.entries(total.counts)
    .filter(([v, n]) => v !== 'identical' && n > 0)
    .map(([v, n]) => `${n} ${v}`);
  return {
    n: total.n,
    k: total.n - total.counts.identical,
    unit,
    rate: true,
    failures: summarised(failures),
    verdict: total.worst,
    notes,
    ...more,
  };
}

/** A comparison can break another law than the one it was made for: ids are seen on raw only, and some differences have a name. */
function lawOf(law: string, { transcript }: Compared, { verdict }: Comparison): string {
  if (verdict === 'contaminated') return 'no-contamination';
  if (transcript.errors.length > 0 || transcript.ending !== 'complete') return 'answers-at-all';
  return law === 'same-ids' && transcript.case.route !== 'raw' ? 'same-text' : law;
}

function compareOne(lab: Lab, c: Compared): Comparison {
  const { transcript: t, truth } = c;
  const options = lab.compareOptions({
    sampled: t.case.request.sampling.kind === 'sampled',
    ...(c.foreign === undefined ? {} : { foreign: c.foreign }),
  });
  if (t.errors.length > 0 || t.ending !== 'complete') {
    const first = t.errors[0];
    return {
      verdict: 'structural',
      divergence: undefined,
      text: first === undefined ? `no whole answer: the exchange ended as ${t.ending}` : `no answer: ${first.code} ${first.message}`,
    };
  }
  if (t.case.route === 'raw') return compareIds(truth, { ids: t.ids, finish: answerOf(t, lab.tokenizer)?.finish }, options);
  const alone = t.case.mode === 'stream' && !lab.profile.models.streamedTextHoldsBackPartialCharacters.value;
  const served = t.text;
  if (t.case.route === 'openai-chat' && t.case.mode === 'unary' && !lab.profile.openai.chatExcludesInput.value) {
    const prompt = lab.tokenizer.decode(truth.promptIds);
    return compareText(truth, served.startsWith(prompt) ? served.slice(prompt.length) : served, options);
  }
  return compareText(truth, served, alone ? { ...options, form: 'chunk-alone' } : options);
}
