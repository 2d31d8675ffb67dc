import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Compared, compared } from '#checks/lab/compared.ts';
import type { Golden } from '#checks/goldens/index.ts';
import { GREEDY, SHARED_TAIL, goldenRequests, goldenStore } from '#checks/lab/goldens.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';

const greedy: Claim = {
  id: 'greedy',
  suite: 'goldens',
  statement: 'Greedy answers are the accepted ones: ids, text and ending.',
  routes: ['raw'],
  laws: ['golden', 'no-contamination'],
  async run(lab): Promise<Outcome> {
    const store = goldenStore(lab.parts);
    // Asked for by request: one that is missing fails, and says how it is recorded.
    const goldens = goldenRequests(lab.plan.prompts)
      .filter((r) => lab.wants(r))
      .map((r) => store.get(GREEDY, r));
    // Short answers ("Heads.") are right for many prompts; only a longer one proves a mix-up.
    const foreign = goldens.filter((g) => g.answer.text.length >= 16).map((g) => ({ request: g.request.id, text: g.answer.text }));
    const cases = await inParallel(sample(lab, goldens), 4, async (g): Promise<Compared> => ({
      transcript: await lab.run({ request: g.request, route: 'raw', mode: 'unary', repeat: 0 }),
      truth: g.answer,
      foreign,
    }));
    return compared(lab, greedy.id, 'golden', cases, 'goldens identical');
  },
};

/** All of them, or with a small budget a share of every kind; those that share their tails stay together. */
function sample(lab: Lab, goldens: readonly Golden[]): readonly Golden[] {
  if (lab.parts.budget.scale >= 1) return goldens;
  const kinds = Map.groupBy(lab.plan.rng('goldens').shuffle(goldens), (g) => g.request.id.replace(/-\d+$/, ''));
  return [...kinds].flatMap(([kind, some]) => (kind === SHARED_TAIL ? some : some.slice(0, lab.count(some.length, 1))));
}

export const CLAIMS: readonly Claim[] = [greedy];
