import type { Transcript } from '#core/transcript/index.ts';
import { answerOn } from './answer-on.ts';
import { GAPS } from './gaps.ts';
import type { Gap, Law, LawContext, Violation } from './types.ts';

export interface Broken {
  readonly transcript: Transcript;
  readonly violation: Violation;
}

export interface GapMet {
  readonly id: string;
  readonly law: string;
  readonly thread: string;
  /** Violations that were exactly this gap's deviation. */
  readonly met: number;
}

export interface Judgement {
  /** Per law, in the order given: on how many transcripts it applied. Zero is for the caller to fail on. */
  readonly exercised: ReadonlyMap<string, number>;
  /** What no gap explains. */
  readonly violations: readonly Broken[];
  readonly gapsMet: readonly GapMet[];
  /** Gaps that the profile lists, whose deviation had to show here, and where the law held instead. */
  readonly gapsGone: readonly string[];
}

/**
 * Holds transcripts to laws and subtracts the known gaps of the profile. `context` may depend on the transcript, since
 * the accepted answer does; every route is held to the form in which it gives answers.
 */
export function judge(
  transcripts: Iterable<Transcript>,
  laws: readonly Law[],
  context: LawContext | ((t: Transcript) => LawContext),
): Judgement {
  const exercised = new Map(laws.map((law) => [law.id, 0]));
  const violations: Broken[] = [];
  const met = new Map<Gap, number>();
  const held = new Set<Gap>();
  for (const transcript of transcripts) {
    const own = onRoute(transcript, typeof context === 'function' ? context(transcript) : context);
    for (const law of laws) {
      if (law.routes !== 'all' && !law.routes.includes(transcript.case.route)) continue;
      if (!law.applies(transcript, own)) continue;
      exercised.set(law.id, (exercised.get(law.id) ?? 0) + 1);
      const found = law.check(transcript, own);
      const gaps = gapsOf(law, transcript, own);
      for (const violation of found) {
        const gap = gaps.find((g) => g.explains(transcript, violation, own));
        if (gap === undefined) violations.push({ transcript, violation });
        else met.set(gap, (met.get(gap) ?? 0) + 1);
      }
      if (found.length === 0) for (const gap of gaps) if (!met.has(gap) && !held.has(gap) && gap.shows(transcript, own)) held.add(gap);
    }
  }
  return {
    exercised,
    violations,
    gapsMet: [...met].map(([gap, n]) => ({ id: gap.id, law: gap.law, thread: gap.thread, met: n })),
    gapsGone: [...held].filter((gap) => !met.has(gap)).map((gap) => gap.id),
  };
}

function onRoute(t: Transcript, context: LawContext): LawContext {
  const { truth, tokenizer } = context;
  const answer = truth && answerOn(t.case, truth, tokenizer);
  return answer === truth ? context : { ...context, truth: answer };
}

/** Subtracts gaps from a violation that was found outside these laws, such as `cancel-frees` by the metrics. */
export function gapFor(t: Transcript, violation: Violation, context: LawContext): Gap | undefined {
  return gapsOf({ id: violation.law }, t, context).find((gap) => gap.explains(t, violation, context));
}

function gapsOf(law: { readonly id: string }, t: Transcript, context: LawContext): Gap[] {
  const { route, mode } = t.case;
  return GAPS.filter(
    (gap) =>
      gap.law === law.id && gap.routes.includes(route) && (gap.mode === 'both' || gap.mode === mode) && gap.listed(context.profile, route),
  );
}
