import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Judged, judged } from '#checks/lab/judged.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { failsUnder } from '#checks/compare/index.ts';
import { law } from '#checks/laws/index.ts';
import type { Mode, Request, RouteId } from '#core/request/index.ts';
import { BLS, agreementRequests } from './requests.ts';

/** Why nothing can be said of the pair, or undefined. */
export function notBoth(lab: Lab): string | undefined {
  if (lab.served(BLS).length === 0) return 'the target has no tensorrt_llm_bls';
  return lab.parts.notServed.get('ensemble');
}

/**
 * One request on a BLS route with the ensemble's answer to it as its reference. None where the policy forgives what
 * parts one of the two from the truth: two answers that were flipped by noise need not be the same.
 */
export async function besideEnsemble(lab: Lab, request: Request, route: RouteId, mode: Mode): Promise<Judged> {
  const truth = await lab.truth(request);
  const reference = await lab.observe(request, 'ensemble', mode);
  const transcript = await lab.observe(request, route, mode);
  if ((request.limits.stopWords ?? []).length > 0) return { transcript, reference, truth };
  for (const t of [reference, transcript]) {
    const { verdict } = await lab.judge(t, truth);
    if (verdict !== 'identical' && !failsUnder(lab.policy, verdict)) return { transcript };
  }
  return { transcript, reference, truth };
}

/** Greedy ones that are asked anyway, and sampled ones, since a parameter that gets lost on the way is one of those. */
function requests(lab: Lab): Request[] {
  const greedy = agreementRequests(lab, 'bls');
  const sampled = lab.plan
    .draw('bls-sampled', lab.count(4, 3), (p) => p.eosAtOnce !== true)
    .map((p, i) =>
      requestOf(p, { maxTokens: 16, minTokens: 8 }, '-sampled', { kind: 'sampled', seed: 500 + i, temperature: 1.7, topK: 40, topP: 0.95 }),
    );
  return [...greedy, ...sampled];
}

export const blsIsEnsemble: Claim = {
  id: 'bls-is-ensemble',
  suite: 'agreement',
  statement: 'The BLS gives what the ensemble gives, greedy and sampled, and without accumulated tokens in the same parts.',
  routes: [...BLS, 'ensemble'],
  laws: ['bls-is-ensemble', 'answers-at-all'],
  async run(lab): Promise<Outcome> {
    const why = notBoth(lab);
    if (why !== undefined) return notServed(why);
    const asked = requests(lab).flatMap((request) =>
      lab.served(BLS).flatMap((route) => (route === 'bls' ? lab.modes : (['unary'] as const)).map((mode) => ({ request, route, mode }))),
    );
    const cases = await inParallel(asked, 4, ({ request, route, mode }) => besideEnsemble(lab, request, route, mode));
    return judged(lab, blsIsEnsemble.id, cases, [law('bls-is-ensemble'), law('answers-at-all')], 'answers beside the ensemble');
  },
};
