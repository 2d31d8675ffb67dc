import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { unanswered } from '#checks/lab/compare-one.ts';
import { coldOf } from '#checks/lab/cold.ts';
import { failureOf, summarised } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { failsUnder } from '#checks/compare/index.ts';
import { type Answer, answerOf } from '#checks/laws/index.ts';
import { nowNs, wallClockMs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { FLOAT32_RESOLUTION } from '#core/stats/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { coldPrompt } from './cold-prompt.ts';

/** Statistics of an engine are told every 100 ms (stats_check_period_ms of the stock configuration). */
const STATISTICS_MS = 500;

export const coldWarm: Claim = {
  id: 'cold-and-warm',
  suite: 'determinism',
  statement: 'A prompt that the server never saw gets the same answer, with the same log-probabilities, as when its KV blocks are reused.',
  routes: ['raw'],
  laws: ['cold-equals-warm', 'reuse-effective'],
  async run(lab): Promise<Outcome> {
    if (lab.parts.rawParameters['enable_kv_cache_reuse'] === 'false')
      return notServed('the configuration switches the reuse of KV blocks off');
    if ((await reusedBlocks(lab)) === undefined)
      return notServed('no metric counts reused KV blocks, so nobody knows whether a call was warm');
    const failures: Failure[] = [];
    const flips = new Map<string, number>();
    let largest = 0;
    let warmed = 0;
    let blocks = 0;
    let shortest = Number.POSITIVE_INFINITY;
    const prompts = colds(lab).map((cold) => coldPrompt(lab, cold));
    for (const request of prompts) {
      const run = (repeat: number, margins: boolean) =>
        lab.run({ request, route: 'raw', mode: lab.mode, repeat }, { logProbs: true, margins });
      const cold = await run(0, await lab.marginsServed());
      const before = await reusedBlocks(lab);
      const warms = [await run(1, false), await run(2, false)];
      const missing = [cold, ...warms].flatMap((t) => {
        const violation = unanswered(t, lab);
        return violation === undefined ? [] : [failureOf(lab, coldWarm.id, t, violation)];
      });
      failures.push(...missing);
      const accepted = answerOf(cold, lab.tokenizer);
      if (missing.length > 0 || accepted === undefined) continue;
      shortest = Math.min(shortest, accepted.promptIds.length);
      const reused = await risen(lab, before);
      if (reused === 0) continue;
      warmed++;
      blocks += reused;
      for (const warm of warms) {
        const comparison = await lab.judge(warm, accepted);
        const same = comparison.verdict === 'identical';
        const gap = largestGap(accepted, warm, comparison.divergence?.token);
        largest = Math.max(largest, gap);
        if (!same) flips.set(comparison.verdict, (flips.get(comparison.verdict) ?? 0) + 1);
        const which = `the first call and call ${warm.case.repeat + 1}`;
        const fail = (code: string, text: string) =>
          failures.push(failureOf(lab, coldWarm.id, warm, { law: 'cold-equals-warm', code, text }, accepted));
        if (failsUnder(lab.policy, comparison.verdict)) fail('ids', `${which} differ: ${comparison.text}`);
        // Margins judge which token was taken, not how probable it was: there the gap is told, and that is all.
        else if (lab.policy.id === 'exact' && gap > FLOAT32_RESOLUTION)
          fail('log-probs', `log-probabilities of ${which} differ by ${gap.toPrecision(2)}`);
      }
    }
    const configured = lab.parts.rawParameters['enable_kv_cache_reuse'] === 'true';
    const blockTokens = await tokensPerBlock(lab);
    // The block that the last token of a prompt is in may be computed anew.
    if (configured && warmed === 0 && failures.length === 0 && shortest > 2 * blockTokens)
      failures.push({
        law: 'reuse-effective',
        code: 'never-reused',
        text: `the configuration switches the reuse of KV blocks on, and of ${prompts.length} prompts of at least ${shortest} tokens, sent three times each, not one block of ${blockTokens} was reused`,
        replay: replayOf(lab, coldWarm.id),
      });
    const notes = [
      ...[...flips].map(([verdict, n]) => `${n} ${verdict}`),
      `largest gap ${largest.toPrecision(1)} nat`,
      `${blocks} blocks reused`,
      ...(warmed < prompts.length ? [`${prompts.length - warmed} prompts not known to be reused`] : []),
    ];
    const k = new Set(failures.map((f) => f.case?.request)).size;
    return structural(warmed, 'prompts cold and warm', summarised(failures), { k, notes });
  },
};

/** New to the server by the time in them; a failure's own one when it is repeated. */
function colds(lab: Lab): { readonly nonce: string; readonly i: number }[] {
  const { only } = lab.parts;
  const again = only === undefined ? undefined : coldOf(only);
  if (again !== undefined) return [again];
  const nonce = wallClockMs().toString(36);
  return Array.from({ length: lab.count(8) }, (_, i) => ({ nonce, i }));
}

function largestGap(accepted: Answer, warm: Transcript, until = Number.POSITIVE_INFINITY): number {
  const n = Math.min(until, accepted.logProbs.length, warm.logProbs.length);
  let gap = 0;
  for (let i = 0; i < n; i++) gap = Math.max(gap, Math.abs(accepted.logProbs[i]! - warm.logProbs[i]!));
  return gap;
}

async function reusedBlocks(lab: Lab): Promise<number | undefined> {
  return (await lab.metrics())?.get('nv_trt_llm_kv_cache_block_metrics', { kv_cache_block_type: 'reused' });
}

/** Not a number where no metric says it: then no prompt is known to be longer. */
async function tokensPerBlock(lab: Lab): Promise<number> {
  return (await lab.metrics())?.get('nv_trt_llm_kv_cache_block_metrics', { kv_cache_block_type: 'tokens_per' }) ?? Number.NaN;
}

/** By how much the counter rose, once the statistics had the time to say so. */
async function risen(lab: Lab, before = Number.NaN): Promise<number> {
  for (const startNs = nowNs(); ; await sleep(20)) {
    const by = ((await reusedBlocks(lab)) ?? Number.NaN) - before;
    if (by > 0) return by;
    if ((nowNs() - startNs) / 1e6 > STATISTICS_MS) return 0;
  }
}
