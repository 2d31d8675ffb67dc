import { structural } from '#checks/lab/outcome.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { ORDINARY_CLAIMS, runSuite } from './run-suite.ts';

/** Negative controls: what must pass passes, and what must show noise shows it. */
export function controls(): void {
  claim({ id: 'no-fault-no-failure', suite: 'self', statement: 'With no fault switched on, the same small run holds throughout.', routes: [], laws: ['faults-are-found'] }, async () => {
    const { outcomes, failures } = await runSuite({});
    return toClaimOutcome(structural(outcomes.size, 'claims held', failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` }))));
  });

  claim({ id: 'ideal-has-no-gaps', suite: 'self', statement: 'Under the ideal profile every law holds in its right form, and no known gap is met.', routes: [], laws: ['faults-are-found'] }, async () => {
    const { outcomes, failures } = await runSuite({ profile: 'ideal' }, undefined, ORDINARY_CLAIMS.filter((c) => c.suite !== 'protocol'));
    const gaps = [...outcomes].flatMap(([id, o]) => (o.gaps ?? []).map((g) => ({ law: g.law, code: 'gap-met', text: `${id} met the gap ${g.id}` })));
    return toClaimOutcome(structural(outcomes.size, 'claims held', [...failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` })), ...gaps]));
  });

  claim({ id: 'batch-noise-is-seen', suite: 'self', statement: 'Arithmetic that depends on the batch gives flips at near ties, and every one is explained by its margin.', routes: ['raw'], laws: ['batch-invariance'] }, async () => {
    const claims = ORDINARY_CLAIMS.filter((c) => c.id === 'repeated' || c.id === 'near-ties-amid-neighbours' || c.id === 'amid-neighbours');
    const { outcomes, failures } = await runSuite({ faults: ['batch-size-changes-greedy-logits'], policy: 'margins' }, undefined, claims);
    const flips = [...outcomes.values()].reduce((sum, o) => sum + o.k, 0);
    const unexplained = failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` }));
    const none = flips === 0 ? [{ law: 'batch-invariance', code: 'no-flip', text: 'not one answer differed: the switch does nothing, or the comparison sees nothing' }] : [];
    return toClaimOutcome(structural(flips, 'flips explained', [...unexplained, ...none]));
  });
}
