import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { ACCEPTED_MEANS_APPLIED, FAMILIES, type Family, PROBED_ROUTES } from '#checks/surface/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { batch } from './batch.ts';
import { Findings } from './findings.ts';
import { greedy } from './greedy.ts';
import { runProbe } from './run-probe.ts';
import { BEAM_CLAIMS } from './beams.ts';
import { logitsAgree } from './logits-agree.ts';
import { sequencesApart } from './sequences-apart.ts';
import { unservable } from './unservable.ts';
import { workOf } from './work.ts';

const MODELS: readonly RouteId[] = ['raw', 'ensemble', 'bls', 'generate'];
const OPENAI: readonly RouteId[] = ['openai-completions', 'openai-chat'];

interface Asked {
  readonly statement: string;
  readonly unit: string;
  readonly routes?: readonly RouteId[];
  readonly laws?: readonly string[];
}

const ASKED: Readonly<Record<Family, Asked>> = {
  endings: { statement: 'What ends an answer, or keeps it from ending, does so on every route that accepts it.', unit: 'probes' },
  'words-and-bias': {
    statement: 'Bad words and embedding bias change the choice where, and to what, they must.',
    unit: 'probes',
    routes: MODELS,
  },
  penalties: { statement: 'Penalties change the first token that they must, to the one that they must.', unit: 'probes' },
  draws: {
    statement: 'Temperature, top-k, top-p and seed decide what is drawn: the odds against their being ignored are 10,000 to 1.',
    unit: 'probes',
    laws: [ACCEPTED_MEANS_APPLIED, 'seed-decides'],
  },
  'top-p-over-time': {
    statement: 'The decay of top-p and its minimum shape every token behind the first.',
    unit: 'probes',
    routes: ['raw'],
  },
  'beams-and-sequences': {
    statement: 'Beams and sequences are as many as were asked for, in the order of their scores and by their own seeds.',
    unit: 'probes',
    routes: MODELS,
  },
  returned: { statement: 'What is asked to be returned comes, with the right shape and values, and only then.', unit: 'probes' },
  inert: { statement: 'What by its contract changes nothing is accepted and changes nothing.', unit: 'inputs' },
  refused: { statement: 'What has no effect here is refused by name, never silently accepted.', unit: 'inputs' },
  fields: { statement: 'A field that the front end accepts changes the answer, or is refused.', unit: 'fields', routes: OPENAI },
};

function familyClaim(family: Family): Claim {
  const { statement, unit, routes = PROBED_ROUTES, laws = [ACCEPTED_MEANS_APPLIED] } = ASKED[family];
  const id = `parameters-${family}`;
  return {
    id,
    suite: 'parameters',
    statement,
    routes,
    laws,
    async run(lab): Promise<Outcome> {
      const unserved = await unservable(lab, routes);
      if (unserved !== undefined) return unserved;
      const work = workOf(lab);
      const findings = new Findings(lab, id);
      for (const route of lab.served(routes)) for (const probe of FAMILIES[family]) await runProbe(work, probe, route, findings);
      return findings.outcome(unit);
    },
  };
}

export const CLAIMS: readonly Claim[] = [
  ...(Object.keys(FAMILIES) as Family[]).map(familyClaim),
  greedy,
  batch,
  ...BEAM_CLAIMS,
  sequencesApart,
  logitsAgree,
];
