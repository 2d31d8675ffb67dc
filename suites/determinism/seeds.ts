import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { unanswered } from '#checks/lab/compare-one.ts';
import { failureOf, summarised } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import { settled } from '#checks/lab/settled.ts';
import { failsUnder } from '#checks/compare/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { answerOf } from '#checks/laws/index.ts';
import type { Transcript } from '#core/transcript/index.ts';

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
    let repeated = 0;
    let unjudged = 0;
    const fail = (t: Transcript, which: string, code: string, text: string) =>
      failures.push(failureOf(lab, seeds.id, t, { law: which, code, text }));
    for (const p of prompts) {
      const asked = Array.from({ length: SEEDS }, (_, i) =>
        requestOf(p, { maxTokens: 16 }, `-seed-${i}`, { kind: 'sampled', seed: 1000 + i, temperature: 1.5, topK: 50, topP: 0.95 }),
      );
      const alone: Transcript[] = [];
      for (const request of asked) alone.push(await lab.run({ request, route: 'raw', mode: lab.mode, repeat: 0 }));
      const atOnce = await settled(asked.map((request) => lab.run({ request, route: 'raw', mode: lab.mode, repeat: 1 })));
      for (const t of [...alone, ...atOnce]) {
        const missing = unanswered(t, lab);
        if (missing !== undefined) fail(t, missing.law, missing.code, missing.text);
      }
      for (const [i, t] of atOnce.entries()) {
        const accepted = answerOf(alone[i]!, lab.tokenizer);
        if (accepted === undefined || unanswered(t, lab) !== undefined) continue;
        repeated++;
        const { verdict, divergence } = await lab.judge(t, accepted);
        const where = divergence?.token === undefined ? 'somewhere' : `from token ${divergence.token} on`;
        if (failsUnder(lab.policy, verdict))
          fail(t, 'seed-decides', 'same-seed-differs', `seed ${1000 + i}: ${where}, the answer amid others differs from the one alone`);
        else if (verdict !== 'identical') unjudged++;
      }
      distinct.alone += countDistinct(alone, lab);
      distinct.atOnce += countDistinct(atOnce, lab);
    }
    for (const [where, n] of Object.entries(distinct)) {
      if (prompts.length > 1 && n > 0 && n <= prompts.length)
        failures.push({
          law: 'seed-decides',
          code: 'seeds-ignored',
          text: `${SEEDS} seeds gave one answer only on each of ${prompts.length} prompts (${where === 'alone' ? 'one after another' : 'sent at once'})`,
          replay: replayOf(lab, seeds.id),
        });
    }
    return {
      ...structural(repeated, 'seeded answers repeated', failures, {
        notes: [`${distinct.alone} distinct over ${prompts.length} prompts`, ...(unjudged > 0 ? [`${unjudged} unjudged`] : [])],
      }),
      failures: summarised(failures),
    };
  },
};

function countDistinct(transcripts: readonly Transcript[], lab: Lab): number {
  return new Set(transcripts.filter((t) => unanswered(t, lab) === undefined).map((t) => t.ids.join())).size;
}
