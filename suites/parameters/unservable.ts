import type { Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed } from '#checks/lab/outcome.ts';
import type { RouteId } from '#core/request/index.ts';

/** Why a target cannot be asked by probes at all. */
export async function unservable(lab: Lab, routes: readonly RouteId[]): Promise<Outcome | undefined> {
  if (lab.served(['raw']).length === 0) return notServed('probes are made from what the raw model answers, and there is none');
  if (lab.served(routes).length === 0) return notServed(lab.parts.notServed.get(routes[0]!)!);
  if (!(await lab.marginsServed()) && lab.withoutMargins)
    return notServed('probes are made from generation logits, which the engine does not gather');
  return undefined;
}
