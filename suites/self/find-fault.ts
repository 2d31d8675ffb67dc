import type { Outcome } from '#checks/lab/claim.ts';
import { structural } from '#checks/lab/outcome.ts';
import type { Fault } from '#embedded/faults/index.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { runSuite } from './run-suite.ts';

/** One claim per fault: the ordinary suite fails on a server that has it, by a law that names it. */
export function findFaults(faults: readonly Fault[]): void {
  for (const fault of faults) {
    claim({ id: `finds-${fault.id}`, suite: 'self', statement: `The suite finds a server where this is broken: ${fault.mechanism}`, routes: [], laws: fault.caughtBy }, async () => toClaimOutcome(await find(fault)));
  }
}

async function find(fault: Fault): Promise<Outcome> {
  const [law] = fault.caughtBy;
  const named = (f: { readonly law: string; readonly code: string }) => f.law === law && f.code !== 'not-exercised';
  const { outcomes, failures } = await runSuite({ faults: [fault.id], profile: fault.profile ?? 'default' }, (found) => found.some(named));
  const hit = failures.find(named);
  if (hit !== undefined) return structural(outcomes.size, 'claims run', [], { notes: [`by ${hit.law} in ${hit.claim}`] });
  const others = [...new Set(failures.map((f) => `${f.law} in ${f.claim}`))];
  const text = others.length === 0 ? `nothing failed in ${outcomes.size} claims` : `other laws failed: ${others.join(', ')}`;
  return structural(outcomes.size, 'claims run', [{ law: 'faults-are-found', code: 'not-named', text: `expected ${law} to fail; ${text}` }]);
}
