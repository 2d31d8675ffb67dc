import type { Lab } from '#checks/lab/lab.ts';
import { requestOf } from '#checks/lab/plan.ts';
import type { Request, RouteId } from '#core/request/index.ts';

export const BLS: readonly RouteId[] = ['bls', 'bls-accumulate'];

/**
 * What every route of text is asked. Two lengths: answers that end by themselves, and answers that are cut. The BLS gets
 * the first half of it, since it calls the models of the ensemble, and is held to the ensemble as well.
 */
export function agreementRequests(lab: Lab, route: RouteId): Request[] {
  const only = route === 'openai-chat' ? (p: { messages?: unknown }) => p.messages !== undefined : undefined;
  const prompts = lab.plan.draw('agreement', lab.count(BLS.includes(route) ? 20 : 40), only);
  return prompts.map((p, i) => requestOf(p, { maxTokens: i % 4 === 3 ? 3 : 40 }, i % 4 === 3 ? '-cut' : ''));
}
