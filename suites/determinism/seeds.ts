import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf, viewOf } from '#checks/lab/replay.ts';
import { firstDivergence } from '#checks/compare/index.ts';
import type { Failure } from '#checks/lab/result.ts';

const SEEDS = 6;

/** Equal seeds give equal answers, alone and at once; different seeds give more than one answer over several prompts. */
export const seeds: Claim = {
  id: 'seeded-sampling',
  suite: 'determinism',
  statement: 'A sampled request is repeated by its seed, alone and amid others, and another seed can give another answer.',
  routes: ['raw'],
  laws: ['seed-decides'],
  async run(lab): Promise<Outcome> {
    const failures: Failure[] = [];
    const prompts = lab.plan.draw('seeds', lab.count(4, 3), (p) => p.eosAtOnce !== true);
    const distinct = { alone: 0, atOnce: 0 };
    for (const p of prompts) {
      const asked = Array.from({ length: SEEDS }, (_, i) =>
        requestOf(p, { maxTokens: 16 }, `-seed-${i}`, { kind: 'sampled', seed: 1000 + i, temperature: 1.5, topK: 50, topP: 0.95 }),
      );
      const alone = [];
      for (const request of asked) alone.push(await lab.run({ request, route: 'raw', mode: lab.mode, repeat: 0 }));
      const atOnce = await Promise.all(asked.map((request) => lab.run({ request, route: 'raw', mode: lab.mode, repeat: 1 })));
      for (const [i, t] of atOnce.entries()) {
        const at = firstDivergence(alone[i]!.ids, t.ids);
        if (at >= 0)
          failures.push({
            law: 'seed-decides',
            code: 'same-seed-differs',
            text: `seed ${1000 + i}: from token ${at} on, the answer amid others differs from the one alone`,
            case: viewOf(t.case),
            replay: replayOf(lab, 'seeded-sampling'),
          });
      }
      distinct.alone += new Set(alone.map((t) => t.ids.join())).size;
      distinct.atOnce += new Set(atOnce.map((t) => t.ids.join())).size;
    }
    for (const [where, n] of Object.entries(distinct)) {
      if (prompts.length > 1 && n <= prompts.length)
        failures.push({
          law: 'seed-decides',
          code: 'seeds-ignored',
          text: `${SEEDS} seeds gave one answer only on each of ${prompts.length} prompts (${where === 'alone' ? 'one after another' : 'sent at once'})`,
        });
    }
    return structural(prompts.length * SEEDS, 'seeded answers repeated', failures, {
      notes: [`${distinct.alone} distinct over ${prompts.length} prompts`],
    });
  },
};
