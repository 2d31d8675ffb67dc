import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import { failureOf } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { settled } from '#checks/lab/settled.ts';
import type { Failure } from '#checks/lab/result.ts';
import { law } from '#checks/laws/index.ts';
import { nowNs } from '#core/clock/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { FLAG, type Transcript } from '#core/transcript/index.ts';
import { type Reading, gaugesWhile } from './gauges-while.ts';

/** So often is a route asked when the gauges showed neither that it streams nor that it holds back. */
const TRIES = 3;

/** Law: what a client waits for is the first token, not the last (NVIDIA/TensorRT-LLM users report both, class C). */
export const asItGoes: Claim = {
  id: 'as-it-goes',
  suite: 'streaming',
  statement: 'A stream gives its answer as it is made: its first event is there while the engine is still at work on it.',
  routes: ['raw', 'ensemble', 'bls', 'bls-accumulate', 'llmapi', 'generate', 'openai-completions'],
  laws: ['streams-as-it-goes', 'answers-at-all'],
  async run(lab): Promise<Outcome> {
    const failures: Failure[] = [];
    const notes: string[] = [];
    const routes = lab.served(asItGoes.routes);
    for (const route of routes) {
      const found = await onRoute(lab, route);
      failures.push(...found.failures);
      if (found.note !== undefined) notes.push(found.note);
    }
    return structural(routes.length, 'routes', failures, { notes });
  },
};

interface Found {
  readonly failures: readonly Failure[];
  readonly note?: string;
}

async function onRoute(lab: Lab, route: RouteId): Promise<Found> {
  const long = lab.plan.draw('as-it-goes', 1, (p) => p.long === true)[0] ?? lab.plan.draw('as-it-goes', 1)[0]!;
  // Neither has a way to hold EOS back, so the answer is as long as it is.
  const limits = route.startsWith('openai') || route === 'llmapi' ? { maxTokens: 100 } : { maxTokens: 100, minTokens: 100 };
  const request = requestOf(long, limits, '-whole');
  const truth = await lab.truthOn(request, route);
  const heldBack = (t: Transcript, text: string): Found => ({
    failures: [failureOf(lab, 'as-it-goes', t, { law: 'streams-as-it-goes', code: 'held-back', text: `${route}: ${text}` }, truth)],
  });
  let firstNs = 0;
  let wholeNs = 0;
  for (let repeat = 0; ; repeat++) {
    const { transcript: t, order } = await watched(lab, () => lab.run({ request, route, mode: 'stream', repeat }));
    const unanswered = law('answers-at-all').check(t, lab.lawContext(truth));
    if (unanswered.length > 0) return { failures: unanswered.map((v) => failureOf(lab, 'as-it-goes', t, v, truth)) };
    const events = dataEvents(t);
    if (events.length <= truth.ids.length / 2)
      return heldBack(t, `${events.length} events brought an answer of ${truth.ids.length} tokens, each of which is a step of the engine`);
    if (order === 'streams') return { failures: [] };
    // One such order may be this client's pause, so a route is only called so when it never showed the other one.
    if (order === 'held-back' && repeat + 1 >= TRIES)
      return heldBack(t, `in ${TRIES} long answers the first event came only after more than half of the engine's steps were done`);
    firstNs += t.atNs[events[0]!]!;
    wholeNs += t.endedNs;
    if (repeat + 1 < TRIES) continue;
    const share = `${Math.round((firstNs / wholeNs) * 100)} % of the time of ${TRIES} long answers`;
    return firstNs / wholeNs > 0.5
      ? heldBack(t, `the first events came after ${share}`)
      : { failures: [], note: `${route} judged by time, no gauges showed the order: first events after ${share}` };
  }
}

function dataEvents(t: Transcript): number[] {
  return Array.from(t.flags.keys()).filter((i) => (t.flags[i]! & (FLAG.data | FLAG.role | FLAG.error)) === FLAG.data);
}

interface Watched {
  readonly transcript: Transcript;
  /** What the gauges say of the first event; undefined when they were read too seldom, or do not move. */
  readonly order: 'streams' | 'held-back' | undefined;
}

/** Runs a case alone, with an eye on the engine all the while. */
async function watched(lab: Lab, run: () => Promise<Transcript>): Promise<Watched> {
  if ((await readGauges(lab)) === undefined) return { transcript: await run(), order: undefined };
  const start = await untilIdle(lab);
  const running = run().then((transcript) => ({ transcript, endNs: nowNs() }));
  const [{ transcript, endNs }, readings] = await settled([running, collected(gaugesWhile(lab, running))]);
  const end = await untilIdle(lab);
  const [first] = dataEvents(transcript);
  if (first === undefined) return { transcript, order: undefined };
  // The sending is dated back from the end, so a little late: whoever asked after this asked after the event.
  const firstNs = endNs - transcript.endedNs + transcript.atNs[first]!;
  const atWork = readings.filter(({ gauges }) => gauges.active > 0 && gauges.iteration < end.iteration);
  if (atWork.some(({ askedNs, gauges }) => askedNs > firstNs && gauges.iteration > start.iteration))
    return { transcript, order: 'streams' };
  const half = (start.iteration + end.iteration) / 2;
  const held = readings.some(({ readNs, gauges }) => readNs < firstNs && gauges.iteration > half);
  return { transcript, order: held ? 'held-back' : undefined };
}

async function collected(readings: AsyncIterable<Reading>): Promise<Reading[]> {
  return Array.fromAsync(readings);
}
