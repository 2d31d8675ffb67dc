import { structural } from '#checks/lab/outcome.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { ORDINARY_CLAIMS, runSuite } from './run-suite.ts';

/** Claims about OpenAI routes that need neither the engine's gauges nor another server. */
const CLAIMS = ORDINARY_CLAIMS.filter(
  ({ id }) =>
    /^openai-.*-(equals-raw|streams)$/.test(id) ||
    ['openai-front-end', 'openai-stop-words', 'prompt-ids', 'usage', 'finish-reason', 'framing'].includes(id),
);

/** What a server like the observed one was seen to do wrong on any dozen requests. */
const ALWAYS_MET = ['id-per-chunk', 'usage-chunk-is-chat'];

claim(
  {
    id: 'trtllm-serve-holds',
    suite: 'self',
    statement: 'A server that speaks as trtllm-serve 1.1 holds every claim about OpenAI routes, its known gaps subtracted.',
    routes: ['openai-completions', 'openai-chat'],
    laws: ['faults-are-found'],
  },
  async ({ signal }) => {
    const { outcomes, failures } = await runSuite({ profile: 'openai=trtllm-serve-1.1' }, { signal, claims: CLAIMS });
    const met = new Set([...outcomes.values()].flatMap((o) => (o.gaps ?? []).map((gap) => gap.id)));
    const missed = ALWAYS_MET.filter((id) => !met.has(id)).map((id) => ({
      law: 'faults-are-found',
      code: 'gap-not-met',
      text: `the gap ${id} was not met: another front end answered, or nobody looked`,
    }));
    return toClaimOutcome(
      structural(outcomes.size, 'claims held', [...failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` })), ...missed]),
    );
  },
);
