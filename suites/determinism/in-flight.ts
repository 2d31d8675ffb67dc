import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import { failureOf, summarised } from '#checks/lab/judged.ts';
import { unanswered } from '#checks/lab/compare-one.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { settled } from '#checks/lab/settled.ts';

/** Beside each other at most; the slots of an engine may be fewer. */
const MOST = 4;
/** Long enough that requests which are sent at once cannot miss each other. */
const TOKENS = 80;
/** Steps that requests at once may take, as a part of what they take one after another; shared in full it is 1 / MOST. */
const APART = 0.9;

/** What is claimed of answers amid neighbours says nothing where no request ever has one. */
export const inFlight: Claim = {
  id: 'in-flight',
  suite: 'determinism',
  statement: 'Requests that are sent at once run beside each other: they take fewer steps of the engine than one after another.',
  routes: ['raw'],
  laws: ['runs-beside-others'],
  async run(lab): Promise<Outcome> {
    if (lab.served(['raw']).length === 0) return notServed(lab.parts.notServed.get('raw')!);
    const slots = (await readGauges(lab))?.maxRequests;
    if (slots === undefined) return notServed('no nv_trt_llm_* metrics, so nobody counts the steps of the engine');
    if (slots < 2) return notServed('the engine has one slot');
    const limits = { maxTokens: TOKENS, stopAtEos: false };
    const prompts = lab.plan.draw('in-flight', Math.min(MOST, slots));
    const requests = Array.from({ length: Math.min(MOST, slots) }, (_, i) => requestOf(prompts[i % prompts.length]!, limits, '-in-flight'));
    const run = (repeat: number) => requests.map((request) => () => lab.run({ request, route: 'raw', mode: lab.mode, repeat }));
    const start = await untilIdle(lab);
    const alone = [];
    for (const ask of run(0)) alone.push(await ask());
    const between = await untilIdle(lab);
    const together = await settled(run(1).map((ask) => ask()));
    const end = await untilIdle(lab);
    const missing = [...alone, ...together].flatMap((t): Failure[] => {
      const violation = unanswered(t, lab);
      return violation === undefined ? [] : [failureOf(lab, inFlight.id, t, violation)];
    });
    if (missing.length > 0) return structural(0, 'requests at once', summarised(missing));
    const [apart, steps] = [between.iteration - start.iteration, end.iteration - between.iteration];
    const failures: Failure[] =
      steps <= apart * APART
        ? []
        : [
            {
              law: 'runs-beside-others',
              code: 'one-by-one',
              text: `${requests.length} requests took ${apart} steps one after another and ${steps} at once, with ${slots} slots`,
              replay: replayOf(lab, inFlight.id),
            },
          ];
    return structural(requests.length, 'requests at once', failures, { notes: [`${steps} steps, one by one ${apart}`] });
  },
};
