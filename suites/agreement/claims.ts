import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Compared, compared } from '#checks/lab/compared.ts';
import { type Judged, forgiven, judged } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { law, servesCounts } from '#checks/laws/index.ts';
import type { Mode, RouteId } from '#core/request/index.ts';
import { blsIsEnsemble } from './bls-and-ensemble.ts';
import { llmapiByItself } from './llmapi-by-itself.ts';
import { openAiStopWords } from './openai-stop-words.ts';
import { agreementRequests } from './requests.ts';
import { stopWordsAlike } from './stop-words.ts';

const TEXT: readonly RouteId[] = ['ensemble', 'bls', 'bls-accumulate', 'llmapi', 'generate', 'openai-completions', 'openai-chat'];

async function observed(lab: Lab, route: RouteId, modes: readonly Mode[]): Promise<Judged[]> {
  const asked = agreementRequests(lab, route).flatMap((request) => modes.map((mode) => ({ request, mode })));
  return inParallel(asked, 4, async ({ request, mode }) => ({
    transcript: await lab.observe(request, route, mode),
    truth: await lab.truthOn(request, route),
  }));
}

const textClaims: readonly Claim[] = TEXT.map((route) => {
  const id = `${route}-equals-raw`;
  return {
    id,
    suite: 'agreement',
    statement: `${route} gives the text that raw's own ids decode to, streamed and not.`,
    routes: [route, 'raw'],
    laws: ['text-is-true-decode', 'deltas-equal-whole'],
    async run(lab): Promise<Outcome> {
      if (lab.served([route]).length === 0) return notServed(lab.parts.notServed.get(route)!);
      const cases = await observed(lab, route, lab.modes);
      const layered = judged(
        lab,
        id,
        await forgiven(lab, cases),
        [
          law('answers-at-all'),
          law('text-is-true-decode'),
          ...(lab.parts.decoupled ? [law('deltas-equal-whole')] : []),
          law('no-control-text'),
        ],
        'answers',
      );
      const verdicts = await compared(lab, id, 'text-is-true-decode', cases as Compared[], 'answers identical');
      // Verdicts say how far answers are from raw's; laws say the same exactly, known gaps subtracted.
      return {
        ...verdicts,
        failures: layered.failures.length > 0 ? [...verdicts.failures.slice(0, 3), ...layered.failures] : verdicts.failures,
        gaps: layered.gaps ?? [],
        gapsGone: layered.gapsGone ?? [],
      };
    },
  };
});

interface Layer {
  readonly id: string;
  readonly statement: string;
  readonly routes: readonly RouteId[];
  readonly laws: readonly string[];
  readonly unit: string;
  /** Cannot be asked of a release that serves no usage. */
  readonly needsCounts?: true;
}

/** Laws that only streams exercise. */
const OF_STREAMS: readonly string[] = ['done-marker', 'role-first'];

const LAYERS: readonly Layer[] = [
  {
    id: 'prompt-ids',
    statement: 'Every route gives the engine the prompt ids that the tokenizer makes, with exactly one BOS.',
    routes: ['openai-completions', 'openai-chat'],
    laws: ['prompt-ids'],
    unit: 'prompts counted',
    needsCounts: true,
  },
  {
    id: 'usage',
    statement: 'Usage counts the tokens that the engine gave.',
    routes: ['openai-completions', 'openai-chat'],
    laws: ['usage-counts', 'count-limit'],
    unit: 'answers counted',
  },
  {
    id: 'finish-reason',
    statement: 'finish_reason says why the answer ended.',
    routes: ['llmapi', 'openai-completions', 'openai-chat'],
    laws: ['finish-reason-true'],
    unit: 'endings',
  },
  {
    id: 'framing',
    statement: 'Every route frames its answers as its protocol says, streamed and not.',
    routes: TEXT,
    laws: ['framing', 'final-flag-once', 'done-marker', 'role-first', 'request-id-echoed', 'one-object'],
    unit: 'exchanges',
  },
  {
    id: 'raw-whole',
    statement:
      'What the other routes are held against is sound itself: true lengths, known ids, the greedy choice, real log-probabilities.',
    routes: ['raw'],
    laws: [
      'sequence-lengths-true',
      'ids-in-vocabulary',
      'greedy-is-argmax',
      'log-probs-real',
      'framing',
      'final-flag-once',
      'request-id-echoed',
    ],
    unit: 'raw answers',
  },
];

const layerClaims: readonly Claim[] = LAYERS.map((l) => ({
  id: l.id,
  suite: 'agreement',
  statement: l.statement,
  routes: l.routes,
  laws: l.laws,
  async run(lab): Promise<Outcome> {
    const routes = lab.served(l.routes);
    if (routes.length === 0) return notServed(lab.parts.notServed.get(l.routes[0]!)!);
    if (l.needsCounts && !routes.some((route) => servesCounts(route, lab.profile)))
      return notServed(`the front end ${lab.profile.openai.id} serves no usage, and nothing else says how many tokens a prompt had`);
    const cases = (await inParallel(routes, 1, (route) => observed(lab, route, lab.modes))).flat();
    const laws = l.laws
      .filter((id) => lab.parts.decoupled || !OF_STREAMS.includes(id))
      .map(law)
      .filter((one) => one.routes === 'all' || one.routes.some((r) => routes.includes(r)));
    const unanswered = judged(lab, l.id, cases, [law('answers-at-all')], l.unit).failures;
    const layered = judged(lab, l.id, await forgiven(lab, cases), laws, l.unit);
    return { ...layered, failures: [...unanswered, ...layered.failures] };
  },
}));

export const CLAIMS: readonly Claim[] = [...textClaims, ...layerClaims, blsIsEnsemble, stopWordsAlike, openAiStopWords, llmapiByItself];
