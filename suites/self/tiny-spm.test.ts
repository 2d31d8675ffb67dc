import { structural } from '#checks/lab/outcome.ts';
import { SPM_CHECKPOINT } from '#core/config/index.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { RUN_DEADLINE_MS, ORDINARY_CLAIMS, runSuite } from './run-suite.ts';

/** What depends on how a tokenizer makes text; `npm run test:spm` asks everything. */
const STREAMS = ['ensemble-streams', 'bls-accumulate-streams'];
const CLAIMS = ORDINARY_CLAIMS.filter(({ suite, id }) => suite === 'agreement' || suite === 'goldens' || STREAMS.includes(id));

claim(
  {
    id: 'text-on-tiny-spm',
    suite: 'self',
    statement: 'On a SentencePiece checkpoint, too, every route gives the text of the ids, streamed and not, and its goldens hold.',
    routes: [],
    laws: ['text-is-true-decode', 'deltas-equal-whole', 'same-ids'],
    timeoutMs: RUN_DEADLINE_MS,
  },
  async ({ signal }) => {
    const { outcomes, failures } = await runSuite({ checkpoint: SPM_CHECKPOINT }, { signal, claims: CLAIMS });
    const vacuous = [...outcomes].flatMap(([id, { n, notServed }]) =>
      n > 0 || notServed !== undefined ? [] : [{ law: '', code: 'vacuum', text: `${id} asked nothing` }],
    );
    const broken = failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` }));
    const cases = [...outcomes.values()].reduce((sum, { n }) => sum + n, 0);
    return toClaimOutcome(structural(outcomes.size, 'claims held', [...broken, ...vacuous], { notes: [`${cases} cases`] }));
  },
);
