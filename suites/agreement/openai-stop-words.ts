import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Judged, judged } from '#checks/lab/judged.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { law } from '#checks/laws/index.ts';
import { ROUTES } from '#checks/routes/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { stopWordRequests } from './stop-words.ts';

const OPENAI: readonly RouteId[] = ['openai-completions', 'openai-chat'];
const LAWS = ['answers-at-all', 'text-is-true-decode', 'deltas-equal-whole', 'finish-reason-true', 'usage-counts'];

/**
 * NVIDIA's front end leaves them to the engine, which knows them by their ids; trtllm-serve looks into the text as well
 * (docs/observed.md#trtllm-serve).
 */
export const openAiStopWords: Claim = {
  id: 'openai-stop-words',
  suite: 'agreement',
  statement: 'Stop words end the answers of OpenAI routes where the release ends them, streamed and not, however the answer spells them.',
  routes: OPENAI,
  laws: LAWS,
  async run(lab): Promise<Outcome> {
    const routes = lab.served(OPENAI);
    if (routes.length === 0) return notServed(lab.parts.notServed.get(OPENAI[0]!)!);
    // Conversations go to both routes.
    const prompts = lab.plan.draw(
      'openai-stop-words',
      lab.count(4),
      (p) => p.messages !== undefined && p.eosAtOnce !== true && p.split !== true,
    );
    const requests = (await inParallel(prompts, 2, (p) => stopWordRequests(lab, p))).flat();
    const asked = requests
      .flatMap((request) => routes.flatMap((route) => lab.modes.map((mode) => ({ request, route, mode, repeat: 0 }))))
      .filter((c) => ROUTES[c.route].cannotCarry(c, lab.profile) === undefined);
    const cases: Judged[] = await inParallel(asked, 4, async ({ request, route, mode }) => ({
      transcript: await lab.observe(request, route, mode),
      truth: await lab.truthOn(request, route),
    }));
    const laws = LAWS.filter((id) => id !== 'deltas-equal-whole' || lab.parts.decoupled);
    return judged(lab, openAiStopWords.id, cases, laws.map(law), 'endings');
  },
};
