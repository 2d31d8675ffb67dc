import { failsUnder } from '#checks/compare/index.ts';
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import { NOT_DECOUPLED, notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf, viewOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import type { Cancel } from '#checks/routes/index.ts';
import { nowNs } from '#core/clock/index.ts';
import type { Case } from '#core/request/index.ts';
import { leftBehind } from '../streaming/cancellation.ts';

/** Parts of an answer's own time after which a client deadline passes: just before its end, at it, just after. */
const DEADLINES = [0.9, 1, 1.1];

/**
 * Servers before 24.12 end with a segmentation fault when cancels meet ends
 * (https://github.com/triton-inference-server/server/issues/7368).
 */
export const cancelAtCompletion: Claim = {
  id: 'cancel-at-completion',
  suite: 'dangerous',
  statement: 'A cancel in the very moment of completion, and a deadline as long as the answer, hurt neither server nor slot.',
  routes: ['raw'],
  laws: ['server-survives', 'cancel-stops', 'cancel-frees', 'same-ids'],
  deadlineMs: 60_000,
  async run(lab): Promise<Outcome> {
    if (lab.served(['raw']).length === 0) return notServed(lab.parts.notServed.get('raw')!);
    if (!lab.parts.decoupled) return notServed(NOT_DECOUPLED);
    const failures: Failure[] = [];
    const gauges = (await readGauges(lab)) !== undefined;
    let n = 0;
    for (const prompt of lab.plan.draw('cancel-at-completion', lab.count(5, 2))) {
      const request = requestOf(prompt, { maxTokens: 24 });
      const truth = await lab.truth(request);
      const begunNs = nowNs();
      const whole = await lab.run({ request, route: 'raw', mode: 'stream', repeat: 0 });
      const ms = (nowNs() - begunNs) / 1e6;
      const cancels: readonly Cancel[] = [
        { how: 'leave', afterEvents: Math.max(0, whole.events - 1) },
        { how: 'leave', afterEvents: whole.events },
        ...DEADLINES.map((part): Cancel => ({ how: 'deadline', ms: Math.max(1, Math.round(ms * part)) })),
      ];
      for (const [i, cancel] of cancels.entries()) {
        const c: Case = { request, route: 'raw', mode: 'stream', repeat: i + 1 };
        const fail = (law: string, code: string, text: string) =>
          failures.push({ law, code, text, case: viewOf(c), replay: replayOf(lab, cancelAtCompletion.id, request) });
        const t = await lab.runCancelled(c, cancel);
        n++;
        if (t.ids.some((id, at) => id !== truth.ids[at]))
          fail('cancel-stops', 'not-a-beginning', `the ${t.ids.length} ids that arrived are no beginning of the answer`);
        if (!gauges) continue;
        try {
          for (const text of leftBehind(await untilIdle(lab))) fail('cancel-frees', 'blocks-held', text);
        } catch (thrown) {
          // A server that says nothing more may be on its way out: then it is this cancel that did it.
          const { alive, detail } = await lab.healthSoon(true);
          if (alive) throw thrown;
          fail('server-survives', 'server-died', `after ${said(cancel)}: ${detail}`);
          return structural(n, 'cancels at the end', failures);
        }
      }
      const after = await lab.run({ request, route: 'raw', mode: 'stream', repeat: cancels.length + 1 });
      const { verdict, text } = await lab.judge(after, truth);
      if (failsUnder(lab.policy, verdict))
        failures.push({
          law: 'same-ids',
          code: 'changed',
          text: `after the cancels the answer changed: ${text}`,
          case: viewOf(after.case),
          replay: replayOf(lab, cancelAtCompletion.id, request),
        });
    }
    return structural(n, 'cancels at the end', failures);
  },
};

function said(cancel: Cancel): string {
  if (cancel.how === 'deadline') return `a deadline of ${cancel.ms} ms, about as long as the answer takes`;
  return 'afterEvents' in cancel ? `a cancel behind event ${cancel.afterEvents}` : 'a cancel';
}
