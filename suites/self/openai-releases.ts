import { structural } from '#checks/lab/outcome.ts';
import { DEFAULT_PROFILE, type OpenAiProfile, profileOf, RELEASES, unknownInputs } from '#core/profile/index.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { drawn, THOROUGH } from './find-fault.ts';
import { ORDINARY_CLAIMS, runSuite } from './run-suite.ts';

/** NVIDIA's front end for Triton; the axis has others too. */
export const FRONT_ENDS = RELEASES.openai.filter(({ trtllmServe }) => trtllmServe === undefined);

/** What is asked of the front end: every claim that speaks of its routes, and its table. */
const CLAIMS = ORDINARY_CLAIMS.filter(({ id, routes }) => id === 'openai-front-end' || routes.some((route) => route.startsWith('openai')));

/** The front end with models whose tensors it knows by name: the default ones where they are such. */
export function fittingProfile(release: OpenAiProfile): string {
  const models = [DEFAULT_PROFILE.models, ...RELEASES.models].find((one) => unknownInputs(release, one).length === 0);
  return profileOf(`models=${models?.id},openai=${release.id}`).id;
}

/** Front ends before models of another generation, which name the seed otherwise: the table has what the core says to that. */
const MISMATCHES = ['models=1.x,openai=r25.05', 'models=0.19,openai=r25.06'];

/** A run of the suite may have to share its processor with five others. */
const TIMEOUT_MS = 300_000;

/** One claim per release of the front end, the oldest by the whole suite, since its models are older too; another run of many claims each, and so for `npm run test:faults`. */
export function everyFrontEnd(): void {
  if (!THOROUGH) return;
  const profiles = [
    ...FRONT_ENDS.map((release, i) => ({ id: release.id, profile: fittingProfile(release), claims: i === 0 ? ORDINARY_CLAIMS : CLAIMS })),
    ...MISMATCHES.map((profile) => ({
      id: profile.replaceAll(/[=,]/g, '-'),
      profile,
      claims: CLAIMS.filter((c) => c.id === 'openai-front-end'),
    })),
  ];
  for (const { id, profile, claims } of drawn(profiles, 'front-ends')) {
    claim(
      {
        id: `front-end-${id}`,
        suite: 'self',
        statement: `Under the profile ${profile} ${claims === ORDINARY_CLAIMS ? 'the whole suite' : 'everything that is asked of the OpenAI front end'} holds.`,
        routes: ['openai-completions', 'openai-chat'],
        laws: ['faults-are-found'],
        timeoutMs: TIMEOUT_MS,
      },
      async ({ signal }) => {
        const { outcomes, failures } = await runSuite({ profile }, { signal, claims });
        const unserved = [...outcomes].flatMap(([id, { notServed }]) =>
          notServed === undefined ? [] : [`${id} not served: ${notServed}`],
        );
        const silent = [...outcomes]
          .filter(([, o]) => o.notServed === undefined && o.n === 0)
          .map(([id]) => ({ law: 'faults-are-found', code: 'vacuum', text: `${id} asked nothing` }));
        const broken = failures.map((f) => ({ ...f, text: `${f.claim}: ${f.text}` }));
        return toClaimOutcome(structural(outcomes.size - unserved.length, 'claims held', [...broken, ...silent], { notes: unserved }));
      },
    );
  }
}
