import type { Claim } from '#checks/lab/claim.ts';
import { structural } from '#checks/lab/outcome.ts';
import { SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import type { Failure } from '#checks/lab/result.ts';
import { unaryRepository } from '#targets/process/unary-repository.ts';
import { UNARY_CLAIMS } from '../protocol/claims.ts';
import { RUN_DEADLINE_MS, ORDINARY_CLAIMS, type SuiteRun, runSuite } from './run-suite.ts';

const named = (failures: SuiteRun['failures']): Failure[] => failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` }));

/** Negative control: what must pass passes. All of this file is for `npm run test:faults`; with `npm test` the ordinary suite is the control. */
export function nothingIsFound(): void {
  claim(
    {
      id: 'no-fault-no-failure',
      suite: 'self',
      statement: 'With no fault switched on, the same small run holds throughout.',
      routes: [],
      laws: ['faults-are-found'],
      timeoutMs: RUN_DEADLINE_MS,
    },
    async ({ signal }) => {
      const { outcomes, failures } = await runSuite({}, { signal });
      return toClaimOutcome(structural(outcomes.size, 'claims held', named(failures)));
    },
  );
}

/** The ordinary run meets the gaps and nothing else; this one none. */
function idealHasNoGaps(id: string, profile: string, claims: readonly Claim[]): void {
  claim(
    {
      id,
      suite: 'self',
      statement: `Under the profile ${profile} every law holds in its right form, and no known gap is met.`,
      routes: [],
      laws: ['faults-are-found'],
      timeoutMs: RUN_DEADLINE_MS,
    },
    async ({ signal }) => {
      const { outcomes, failures } = await runSuite({ profile }, { signal, claims });
      const gaps = [...outcomes].flatMap(([id, o]) =>
        (o.gaps ?? []).map((g) => ({ law: g.law, code: 'gap-met', text: `${id} met the gap ${g.id}` })),
      );
      return toClaimOutcome(structural(outcomes.size, 'claims held', [...named(failures), ...gaps]));
    },
  );
}

/** The switch does something, the comparison sees it, and the margins explain it. */
function batchNoiseIsSeen(): void {
  claim(
    {
      id: 'batch-noise-is-seen',
      suite: 'self',
      statement: 'Arithmetic that depends on the batch gives flips at near ties, and every one is explained by its margin.',
      routes: ['raw'],
      laws: ['batch-invariance'],
      timeoutMs: RUN_DEADLINE_MS,
    },
    async ({ signal }) => {
      const claims = ['repeated', 'amid-neighbours', 'near-ties-amid-neighbours'].map((id) => ORDINARY_CLAIMS.find((c) => c.id === id)!);
      const { outcomes, failures } = await runSuite(
        { faults: ['batch-size-changes-greedy-logits'], policy: 'margins' },
        { signal, claims },
      );
      const flips = [...outcomes.values()].reduce((sum, o) => sum + o.k, 0);
      const none =
        flips === 0
          ? [
              {
                law: 'batch-invariance',
                code: 'no-flip',
                text: 'not one answer differed: the switch does nothing, or the comparison sees nothing',
              },
            ]
          : [];
      return toClaimOutcome(structural(flips, 'flips explained', [...named(failures), ...none]));
    },
  );
}

/** Controls on what else the self-test rests on: the ideal profile, and near ties that really flip. */
export function controls(): void {
  idealHasNoGaps('ideal-has-no-gaps', 'ideal', ORDINARY_CLAIMS);
  const ofOpenAi = ORDINARY_CLAIMS.filter(
    ({ id, routes }) => id === 'openai-front-end' || routes.some((route) => route.startsWith('openai')),
  );
  // With the sampler that keeps the EOS id, and so counts it.
  idealHasNoGaps('ideal-trtllm-serve-has-no-gaps', 'ideal,models=1.2,openai=trtllm-serve-1.3rc', ofOpenAi);
  batchNoiseIsSeen();
  unaryRepositories('unary-repository', TINY_CHECKPOINT, [...UNARY_CLAIMS, ...ORDINARY_CLAIMS]);
  unaryRepositories('unary-repository-tiny-spm', SPM_CHECKPOINT, UNARY_CLAIMS);
}

function unaryRepositories(id: string, checkpoint: string, claims: readonly Claim[]): void {
  claim(
    {
      id,
      suite: 'self',
      statement: 'On a repository without the decoupled policy claims that need no streams hold, and the others say that they need them.',
      routes: ['raw', 'ensemble', 'bls', 'bls-accumulate', 'generate'],
      laws: ['faults-are-found', 'as-observed'],
      timeoutMs: RUN_DEADLINE_MS,
    },
    async ({ signal }) => {
      using repository = unaryRepository(checkpoint);
      const { outcomes, failures } = await runSuite({ checkpoint, repository: repository.path }, { signal, claims });
      const asked = [...outcomes.values()].filter((o) => o.notServed === undefined).length;
      const silent = [...outcomes]
        .filter(([, o]) => o.notServed === undefined && o.n === 0)
        .map(([id]) => ({ law: 'faults-are-found', code: 'vacuum', text: `${id} asked nothing` }));
      return toClaimOutcome(
        structural(asked, 'claims held', [...named(failures), ...silent], { notes: [`${outcomes.size - asked} need streams`] }),
      );
    },
  );
}
