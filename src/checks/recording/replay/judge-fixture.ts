/** The laws of the suite, held against what was recorded. */
import { type Answer, GAPS, type GapMet, LAWS, type LawContext, type Violation, judge } from '#checks/laws/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Case, Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Fixture } from '../types.ts';
import { type ObserveContext, type Observed, observed } from './observed.ts';

export interface LawFinding {
  readonly law: string;
  readonly statement: string;
  /** `unjudged`: it may be a known gap of this release, which only the accepted answer could tell. */
  readonly status: 'held' | 'violated' | 'gap' | 'unjudged';
  readonly violations: readonly Violation[];
  readonly gaps: readonly GapMet[];
}

/** One request of a recording, and what the laws say of its answer. */
export interface JudgedFixture extends Observed {
  /** The accepted answer that it was held to, where one is known. */
  readonly truth: Answer | undefined;
  /** Laws that speak of this answer, in the order of `LAWS`. */
  readonly findings: readonly LawFinding[];
}

export interface JudgeContext extends ObserveContext {
  /** The accepted answer to a request on a route, where the recording has none. */
  readonly accepted?: (request: Request, route: RouteId) => Answer | undefined;
  /** Whether an answer may part from the accepted one as it does; then it is held to the other laws alone. */
  readonly forgives?: (t: Transcript, truth: Answer) => boolean;
}

/** Errors: those of `observed`. */
export async function judgeFixture(fixture: Fixture, name: string, context: JudgeContext): Promise<readonly JudgedFixture[]> {
  const all = await observed(fixture, name, context);
  return all.map((one) => {
    const { case: c } = one.transcript;
    const known = (all.length === 1 ? fixture.header.truth : undefined) ?? context.accepted?.(c.request, c.route);
    const truth = known === undefined || context.forgives?.(one.transcript, known) === true ? undefined : known;
    const lawContext: LawContext = { tokenizer: context.tokenizer, profile: context.profile, truth, cancelAfter: one.cancelAfter };
    const findings = LAWS.flatMap((law): LawFinding[] => {
      const { exercised, violations, gapsMet } = judge([one.transcript], [law], lawContext);
      if (exercised.get(law.id) === 0) return [];
      const unsure = truth === undefined && mayBeGap(law.id, c, context.profile);
      const status = violations.length > 0 ? (unsure ? 'unjudged' : 'violated') : gapsMet.length > 0 ? 'gap' : 'held';
      return [{ law: law.id, statement: law.statement, status, violations: violations.map(({ violation }) => violation), gaps: gapsMet }];
    });
    return { ...one, truth, findings };
  });
}

function mayBeGap(law: string, { route, mode }: Case, profile: ReleaseProfile): boolean {
  return GAPS.some(
    (gap) => gap.law === law && gap.routes.includes(route) && (gap.mode === 'both' || gap.mode === mode) && gap.listed(profile, route),
  );
}
