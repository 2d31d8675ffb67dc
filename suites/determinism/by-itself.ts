import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { failureOf } from '#checks/lab/judged.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { type PoolPrompt, requestOf } from '#checks/lab/plan.ts';
import { firstTextDifference } from '#checks/laws/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import type { RouteId } from '#core/request/index.ts';

const ROUTES: readonly RouteId[] = ['openai-completions', 'openai-chat'];
const MAX_TOKENS = 32;
const PROMPTS = 20;
const REPEATS = 4;

/** All that can be known of determinism where neither raw nor goldens tell what is right. */
export const byItself: Claim = {
  id: 'by-itself',
  suite: 'determinism',
  statement: 'Without anything to be held against, a front end at least gives equal requests equal answers, alone and amid others.',
  routes: ROUTES,
  laws: ['same-text'],
  async run(lab): Promise<Outcome> {
    if (!lab.parts.notServed.has('raw') || lab.parts.accepted !== undefined)
      return notServed('what is right is known here, which says more: determinism/repeated');
    const routes = lab.served(ROUTES);
    if (routes.length === 0) return notServed(lab.parts.notServed.get('openai-completions') ?? 'no front end');
    const failures: Failure[] = [];
    let n = 0;
    let k = 0;
    for (const route of routes) {
      const carried = route === 'openai-chat' ? (p: PoolPrompt) => p.messages !== undefined : undefined;
      const asked = lab.plan.draw(`by-itself-${route}`, lab.count(PROMPTS), carried).map((p) => requestOf(p, { maxTokens: MAX_TOKENS }));
      const run = (repeat: number) => (request: (typeof asked)[number]) => lab.run({ request, route, mode: 'unary' as const, repeat });
      const alone = await inParallel(asked, 1, run(0));
      for (let repeat = 1; repeat < REPEATS; repeat++) {
        const again = await inParallel(asked, 8, run(repeat));
        for (const [i, t] of again.entries()) {
          const first = alone[i];
          if (first === undefined || first.errors.length > 0) continue;
          n++;
          const char = firstTextDifference(first.text, t.text);
          if (char < 0 && t.errors.length === 0) continue;
          k++;
          const text =
            t.errors[0]?.message ??
            `at character ${char}: ${JSON.stringify(first.text.slice(char))} the first time, ${JSON.stringify(t.text.slice(char))} amid others`;
          failures.push(failureOf(lab, byItself.id, t, { law: 'same-text', code: 'other-text', text }));
        }
      }
    }
    return { n, k, unit: 'answers as the first time', rate: true, failures: failures.slice(0, 5) };
  },
};
