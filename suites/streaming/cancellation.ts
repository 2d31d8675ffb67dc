import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type EngineGauges, readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { failureOf } from '#checks/lab/judged.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf, viewOf } from '#checks/lab/replay.ts';
import { ENGINE_RAN_ON, type Gap, gapFor, law } from '#checks/laws/index.ts';
import type { Cancel } from '#checks/routes/index.ts';
import type { Case, Request, RouteId } from '#core/request/index.ts';
import type { Failure, GapCount } from '#checks/lab/result.ts';

const CANCEL_STOPS = law('cancel-stops');

interface Scenario {
  readonly id: string;
  readonly statement: string;
  readonly route: RouteId;
  readonly cancel: Cancel;
  /** All slots are taken before the case is sent, so that it waits in the queue. */
  readonly queued?: true;
}

const SCENARIOS: readonly Scenario[] = [
  {
    id: 'cancel-mid-decode',
    statement: 'A gRPC cancel in the middle of an answer stops the engine and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'cancel-in-prefill',
    statement: 'A gRPC cancel before the first token stops the engine and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'leave', afterEvents: 0 },
  },
  {
    id: 'cancel-while-queued',
    statement: 'A request cancelled while it waits for a slot never runs, and those that hold the slots are not disturbed.',
    route: 'raw',
    cancel: { how: 'leave', afterEvents: 0 },
    queued: true,
  },
  {
    id: 'cancel-by-deadline',
    statement: 'A client deadline that passes stops the engine and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'deadline', ms: 25 },
  },
  {
    id: 'cancel-by-stop-tensor',
    statement: 'A stop request with the same id ends the answer with its final flag and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'stop-tensor', afterEvents: 5 },
  },
  {
    id: 'cancel-ensemble',
    statement: 'A gRPC cancel of an ensemble request stops the engine.',
    route: 'ensemble',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'close-generate-stream',
    statement: 'Closing a generate_stream connection stops the engine.',
    route: 'generate',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'close-openai-stream',
    statement: 'Closing an OpenAI stream stops the engine.',
    route: 'openai-completions',
    cancel: { how: 'leave', afterEvents: 5 },
  },
];

/** A request that would run long: EOS is held back on text routes and not sent on raw. */
function victim(lab: Lab, route: RouteId, i: number): Request {
  const prompts = lab.plan.draw('victims', 8);
  const prompt = prompts[i % prompts.length]!;
  const { longTokens } = lab.parts.budget;
  const limits = route === 'raw' ? { maxTokens: longTokens, stopAtEos: false } : { maxTokens: longTokens, minTokens: longTokens };
  return requestOf(prompt, limits, `-long-${i}`);
}

export const CANCELLATION: readonly Claim[] = SCENARIOS.map((s) => ({
  id: s.id,
  suite: 'streaming',
  statement: s.statement,
  routes: [s.route],
  laws: ['cancel-stops', 'cancel-frees', 'neighbours-unchanged'],
  deadlineMs: 60_000,
  run: (lab) => runScenario(lab, s),
}));

async function runScenario(lab: Lab, s: Scenario): Promise<Outcome> {
  if (lab.served([s.route]).length === 0) return notServed(lab.parts.notServed.get(s.route)!);
  if ((await readGauges(lab)) === undefined) return notServed('no nv_trt_llm_* metrics, so nothing is known about slots and blocks');
  const failures: Failure[] = [];
  const gaps = new Map<Gap, number>();
  let inTime = 0;
  const tries = lab.count(3, 1);
  for (let i = 0; i < tries; i++) {
    const seen = await once(lab, s, i);
    if (seen === 'too-late') continue;
    inTime++;
    if (seen.gap !== undefined) gaps.set(seen.gap, (gaps.get(seen.gap) ?? 0) + 1);
    failures.push(...seen.failures);
  }
  const met: GapCount[] = [...gaps].map(([gap, n]) => ({ id: gap.id, law: gap.law, thread: gap.thread, met: n }));
  const listed = expectedGap(lab, s.route);
  return structural(inTime, 'cancels in time', failures, {
    gaps: met,
    gapsGone: listed !== undefined && inTime > 0 && met.length === 0 ? [listed] : [],
  });
}

/** The gap that the profile lists for this route, if it does: the day it no longer shows, the run says so. */
function expectedGap(lab: Lab, route: RouteId): string | undefined {
  if (route === 'ensemble' || route === 'generate')
    return lab.profile.core.ensembleCancelReachesRunningStep.value ? undefined : 'ensemble-cancel-runs-on';
  if (route.startsWith('openai')) return lab.profile.openai.disconnectCancels.value ? undefined : 'openai-disconnect-runs-on';
  return undefined;
}

interface Seen {
  /** The known gap that explains why the engine went on. */
  readonly gap: Gap | undefined;
  readonly failures: readonly Failure[];
}

async function once(lab: Lab, s: Scenario, i: number): Promise<Seen | 'too-late'> {
  const before = await untilIdle(lab);
  const request = s.route === 'openai-completions' ? longByNature(lab, i) : victim(lab, s.route, i);
  if (request === undefined) return 'too-late';
  const c: Case = { request, route: s.route, mode: 'stream', repeat: i };
  const neighbours = lab.plan.draw(`neighbours-${i}`, 2).map((p) => requestOf(p, { maxTokens: 24 }));
  const truths = await Promise.all(neighbours.map((n) => lab.truth(n)));
  // Known beforehand, so that what arrived can be held against it; only raw can be asked for an answer without EOS.
  const truth = s.route === 'raw' && !s.queued ? await lab.truth(request) : undefined;
  // The front end has no way to hold EOS back, so its answers are as long as they are.
  const natural = s.route === 'openai-completions' ? (await lab.truth(request)).ids.length : Number.NaN;
  const start = await untilIdle(lab);

  const fillers = s.queued
    ? Array.from({ length: before.maxRequests }, (_, f) =>
        lab.run({
          request: { ...victim(lab, 'raw', f + 1), limits: { maxTokens: 120, stopAtEos: false } },
          route: 'raw',
          mode: 'stream',
          repeat: f,
        }),
      )
    : [];
  if (s.queued) await Promise.race([slotsTaken(lab, before.maxRequests), Promise.all(fillers)]);
  const beside = s.queued ? [] : neighbours.map((n) => lab.run({ request: n, route: 'raw', mode: 'stream', repeat: i }));
  const transcript = await lab.runCancelled(c, s.cancel);
  const besideDone = await Promise.all(beside);
  const filled = await Promise.all(fillers);
  const after = await untilIdle(lab, 30_000);

  const context = { ...lab.lawContext(truth), cancelAfter: s.cancel.how === 'stop-tensor' ? s.cancel.afterEvents : undefined };
  const seenByClient = CANCEL_STOPS.applies(transcript, context) ? CANCEL_STOPS.check(transcript, context) : [];
  if (seenByClient.length > 0) return { gap: undefined, failures: seenByClient.map((v) => failureOf(lab, s.id, transcript, v)) };

  const asked = s.route === 'openai-completions' ? natural : request.limits.maxTokens;
  const received = s.route === 'raw' ? transcript.ids.length : transcript.events;
  if (received >= asked || (transcript.ending === 'complete' && s.cancel.how !== 'stop-tensor')) return 'too-late';

  const fail = (law: string, code: string, text: string): Failure => ({
    law,
    code,
    text,
    case: viewOf(c),
    replay: replayOf(lab, s.id, c.request),
  });
  const failures: Failure[] = [];
  const steps = after.iteration - start.iteration;
  // Alone, an answer that nobody stops takes one step per token; fillers run beside each other, 120 steps in all.
  const others = s.queued ? 120 : 0;
  let gap: Gap | undefined;
  if (steps > others + asked / 2) {
    const toItsEnd = steps >= others + asked * 0.9 - 1;
    const text = `the client left after ${received} of ${asked} tokens, but the engine went on for ${steps} steps`;
    const code = toItsEnd ? ENGINE_RAN_ON : 'stopped-late';
    gap = gapFor(transcript, { law: 'cancel-frees', code, text }, lab.lawContext());
    if (gap === undefined) failures.push(fail('cancel-frees', code, text));
  }
  failures.push(...leftBehind(after).map((text) => fail('cancel-frees', 'blocks-held', text)));
  for (const [n, t] of besideDone.entries()) {
    const same = t.ids.length === truths[n]!.ids.length && t.ids.every((id, j) => id === truths[n]!.ids[j]);
    if (!same)
      failures.push(
        fail(
          'neighbours-unchanged',
          'neighbour-changed',
          `${neighbours[n]!.id}, which ran beside the cancelled request, answered ${t.ids.length} ids that differ from its own answer alone`,
        ),
      );
  }
  for (const t of filled) {
    if (t.ids.length !== 120)
      failures.push(fail('neighbours-unchanged', 'neighbour-cut', `a request that held a slot gave ${t.ids.length} of 120 ids`));
  }
  if (s.queued && transcript.ids.length > 0)
    failures.push(fail('cancel-frees', 'ran-while-queued', `a request cancelled in the queue still gave ${transcript.ids.length} ids`));
  return { gap, failures };
}

/** On the front end nothing holds EOS back, so the prompt must be one whose answer is long by itself. */
function longByNature(lab: Lab, i: number): Request | undefined {
  const long = lab.plan.draw('long', 4, (p) => p.long === true);
  const prompt = long[i % Math.max(1, long.length)];
  return prompt && requestOf(prompt, { maxTokens: lab.parts.budget.longTokens }, `-long-${i}`);
}

async function slotsTaken(lab: Lab, max: number): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    const g = await readGauges(lab);
    if (g !== undefined && g.active >= max) return;
  }
}

function leftBehind(after: EngineGauges): string[] {
  const out: string[] = [];
  if (after.blocksUsed !== 0) out.push(`${after.blocksUsed} KV blocks are still in use with nothing running`);
  if (after.blocksFree !== after.blocksMax) out.push(`${after.blocksFree} of ${after.blocksMax} KV blocks are free with nothing running`);
  return out;
}
