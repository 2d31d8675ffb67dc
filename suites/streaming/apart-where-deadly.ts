import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { onItsOwnServer, watched } from '#checks/lab/own-server.ts';
import { CANCELS_KILL, diedOfCancels } from '#checks/laws/index.ts';
import type { RouteId } from '#core/request/index.ts';

/** More in a row are not "now and then". */
const MOST_DEATHS = 3;

/**
 * Runs a claim that cancels streams of `route`: where a release may die of that and this run started it, in a process of its own, so
 * that a death ends one claim; and, where that is known of the release, on another one, because the dead one has shown nothing.
 * An embedded server does not die, and nobody starts a second one of a target that runs already.
 */
export async function apartWhereDeadly(claim: Pick<Claim, 'run'>, lab: Lab, route: RouteId): Promise<Outcome> {
  const known = CANCELS_KILL.listed(lab.profile, route);
  // On releases that were not watched as long as 2.51 a BLS, which sends on behind a cancel, is not trusted either.
  const deadly = known || route === 'bls';
  if (!deadly) return claim.run(lab);
  if (!lab.parts.owned || lab.parts.dangerous === 'here') return watched(claim, lab);
  const { id, law, thread } = CANCELS_KILL;
  for (let deaths = 0; ; deaths++) {
    const outcome = await onItsOwnServer(claim, lab);
    if (known && diedAsKnown(outcome) && deaths + 1 < MOST_DEATHS) continue;
    return deaths === 0 ? outcome : { ...outcome, gaps: [...(outcome.gaps ?? []), { id, law, thread, met: deaths }] };
  }
}

/** There and nowhere else; what else a dying server broke is told by the next one, if it is so. */
function diedAsKnown({ failures }: Pick<Outcome, 'failures'>): boolean {
  return failures.some(({ law, code, text }) => law === CANCELS_KILL.law && code === 'server-died' && diedOfCancels(text));
}
