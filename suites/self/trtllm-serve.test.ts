import { structural } from '#checks/lab/outcome.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { RUN_DEADLINE_MS, ORDINARY_CLAIMS, runSuite } from './run-suite.ts';

/** Claims about OpenAI routes that need neither the engine's gauges nor another server. */
const CLAIMS = ORDINARY_CLAIMS.filter(
  ({ id, suite }) =>
    suite === 'parameters' ||
    /^openai-.*-(equals-raw|streams)$/.test(id) ||
    ['openai-front-end', 'openai-stop-words', 'prompt-ids', 'usage', 'finish-reason', 'framing'].includes(id),
);

interface Release {
  readonly id: string;
  readonly profile: string;
  /** Known gaps that no dozen of requests misses. */
  readonly meets: readonly string[];
}

const OF_BOTH = ['cut-character-lost', 'stop-string-leaks', 'usage-counts-past-stop'];
const RELEASES: readonly Release[] = [
  { id: '1.1', profile: 'openai=trtllm-serve-1.1', meets: [...OF_BOTH, 'id-per-chunk', 'usage-chunk-is-chat'] },
  // With the sampler that keeps the EOS id.
  { id: '1.3rc', profile: 'models=1.2,openai=trtllm-serve-1.3rc', meets: [...OF_BOTH, 'usage-counts-eos'] },
];

for (const { id, profile, meets } of RELEASES) {
  claim(
    {
      id: `trtllm-serve-${id}`,
      suite: 'self',
      statement: `A server that speaks as trtllm-serve ${id} holds every claim about OpenAI routes, its known gaps subtracted.`,
      routes: ['openai-completions', 'openai-chat'],
      laws: ['faults-are-found'],
      timeoutMs: RUN_DEADLINE_MS,
    },
    async ({ signal }) => {
      const { outcomes, failures } = await runSuite({ profile }, { signal, claims: CLAIMS });
      const met = new Set([...outcomes.values()].flatMap((o) => (o.gaps ?? []).map((gap) => gap.id)));
      const missed = meets
        .filter((gap) => !met.has(gap))
        .map((gap) => ({
          law: 'faults-are-found',
          code: 'gap-not-met',
          text: `the gap ${gap} was not met: another front end answered, or nobody looked`,
        }));
      return toClaimOutcome(
        structural(outcomes.size, 'claims held', [...failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` })), ...missed]),
      );
    },
  );
}
