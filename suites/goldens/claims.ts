import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Compared, compared } from '#checks/lab/compared.ts';
import { GREEDY, goldenStore } from '#checks/lab/goldens.ts';
import { inParallel } from '#checks/lab/lab.ts';

const greedy: Claim = {
  id: 'greedy',
  suite: 'goldens',
  statement: 'Greedy answers are the accepted ones: ids, text and ending.',
  routes: ['raw'],
  laws: ['golden'],
  async run(lab): Promise<Outcome> {
    const goldens = [...goldenStore(lab.parts).load(GREEDY).values()];
    const asked = lab.parts.budget.scale < 1 ? lab.plan.rng('goldens').shuffle(goldens).slice(0, lab.count(goldens.length)) : goldens;
    const cases = await inParallel(asked, 4, async (g): Promise<Compared> => ({
      transcript: await lab.run({ request: g.request, route: 'raw', mode: 'unary', repeat: 0 }),
      truth: g.answer,
    }));
    return compared(lab, greedy.id, 'golden', cases, 'goldens identical');
  },
};

export const CLAIMS: readonly Claim[] = [greedy];
