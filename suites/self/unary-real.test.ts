import { describe } from 'vitest';
import { makeLab } from '#checks/lab/make-lab.ts';
import { structural } from '#checks/lab/outcome.ts';
import { PACKAGE_ROOT, SPM_CHECKPOINT, TINY_CHECKPOINT, defaultSettings, toRunConfig } from '#core/config/index.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { startTritonServer } from '#targets/process/index.ts';
import { CLAIMS as agreement } from '../agreement/claims.ts';
import { UNARY_CLAIMS } from '../protocol/claims.ts';
import { SMALL } from './run-suite.ts';
import { unaryRepository } from '#targets/process/unary-repository.ts';

/** With a server laid out from PyPI, hence not part of the ordinary tests. */
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('a real tritonserver', () => {
  // How a whole answer is framed does not depend on the tokenizer: the second checkpoint is asked its tables alone.
  for (const [id, checkpoint, claims] of [
    ['unary-repository-real', TINY_CHECKPOINT, [...UNARY_CLAIMS, ...agreement]],
    ['unary-repository-real-tiny-spm', SPM_CHECKPOINT, UNARY_CLAIMS],
  ] as const) {
    claim(
      {
        id,
        suite: 'self',
        statement: 'A real tritonserver on a repository without the decoupled policy answers as the embedded one does.',
        routes: ['raw', 'ensemble', 'bls', 'bls-accumulate', 'generate'],
        laws: ['as-observed'],
      },
      async ({ signal }) => {
        using repository = unaryRepository(checkpoint);
        await using server = await startTritonServer({ repository: repository.path, signal });
        await using made = await makeLab({
          config: { ...toRunConfig({ ...defaultSettings(), checkpoint }, PACKAGE_ROOT), target: 'process' },
          endpoints: server.endpoints,
          identity: server.identity,
          health: () => server.health(),
          budget: SMALL,
        });
        made.lab.signal = signal;
        const outcomes = [];
        for (const c of claims) outcomes.push({ id: c.id, outcome: await c.run(made.lab) });
        const asked = outcomes.filter(({ outcome }) => outcome.notServed === undefined);
        const failures = asked.flatMap(({ id, outcome }) => outcome.failures.map((f) => ({ ...f, text: `${id}: ${f.text}` })));
        return toClaimOutcome(structural(asked.length, 'claims held', failures));
      },
    );
  }
});
