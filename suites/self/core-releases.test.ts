/** The suite on embedded servers that behave like other cores, whose literals were observed on the real ones. */
import { structural } from '#checks/lab/outcome.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { ORDINARY_CLAIMS, RUN_DEADLINE_MS, runSuite } from './run-suite.ts';

/** Each behind a change that many rows speak of: HTTP statuses, names in texts, byte sizes, outputs of ensembles, configurations. */
const CORES = ['2.42', '2.44', '2.47', '2.50', '2.71+2.51'];

for (const core of CORES) {
  claim(
    {
      id: `core-${core}`,
      suite: 'self',
      statement: `The suite holds on the embedded server as Triton ${core}.`,
      routes: [],
      laws: [],
      timeoutMs: RUN_DEADLINE_MS,
    },
    async ({ signal }) => {
      const claims = ORDINARY_CLAIMS.filter(({ suite }) => suite !== 'dangerous');
      const { outcomes, failures } = await runSuite({ profile: `core=${core}` }, { signal, claims });
      const held = [...outcomes.values()].filter(({ notServed }) => notServed === undefined).length;
      return toClaimOutcome(structural(held, 'claims', failures));
    },
  );
}
