import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type EngineGauges, readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import { failsUnder } from '#checks/compare/index.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { aboutExchange } from '#checks/lab/fixtures.ts';
import { failureOf } from '#checks/lab/judged.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf, viewOf } from '#checks/lab/replay.ts';
import { viewsOf } from '#checks/lab/views.ts';
import { settled } from '#checks/lab/settled.ts';
import { type Answer, ENGINE_RAN_ON, GAPS, type Gap, type Violation, gapFor, law } from '#checks/laws/index.ts';
import type { Cancel } from '#checks/routes/index.ts';
import type { Case, Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { apartWhereDeadly } from './apart-where-deadly.ts';
import { SCENARIOS, type Scenario } from './cancel-scenarios.ts';
import { gaugesWhile } from './gauges-while.ts';

const ANSWERS_AT_ALL = law('answers-at-all');
const CANCEL_STOPS = law('cancel-stops');

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
  laws: ['answers-at-all', 'cancel-stops', 'cancel-frees', 'neighbours-unchanged', 'server-survives'],
  // Servers of its own may have to start first.
  deadlineMs: 180_000,
  run: (lab) => apartWhereDeadly({ run: (on) => runScenario(on, s) }, lab, s.route),
}));

async function runScenario(lab: Lab, s: Scenario): Promise<Outcome> {
  if (lab.served([s.route]).length === 0) return notServed(lab.parts.notServed.get(s.route)!);
  if ((await readGauges(lab)) === undefined) return notServed('no nv_trt_llm_* metrics, so nothing is known about slots and blocks');
  const failures: Failure[] = [];
  const gaps = new Map<Gap, number>();
  let inTime = 0;
  let broken = 0;
  const tries = lab.count(3, 1);
  const shown = s.route !== 'llmapi' || (await movesGauges(lab, s.route));
  for (let i = 0; i < tries; i++) {
    const seen = await once(lab, s, i, shown);
    if (seen === undefined) continue;
    if (seen.inTime) inTime++;
    else if (seen.failures.length > 0) broken++;
    for (const gap of seen.gaps) gaps.set(gap, (gaps.get(gap) ?? 0) + 1);
    failures.push(...seen.failures);
  }
  // Two gaps may excuse the same: whichever was met, the engine did run on.
  const held = inTime > 0 && ![...gaps.keys()].some((gap) => gap.law === 'cancel-frees') && !failures.some((f) => f.law === 'cancel-frees');
  return structural(inTime + broken, 'cancels in time', failures, {
    gaps: [...gaps].map(([gap, n]) => ({ id: gap.id, law: gap.law, thread: gap.thread, met: n })),
    notes: shown ? [] : ['the gauges do not show its engine, so what it did after the cancel is not known'],
    gapsGone: held ? listedGaps(lab, s).flatMap((gap) => (gaps.has(gap) ? [] : [gap.id])) : [],
  });
}

/** What the profile lists for this route: the day it no longer shows, the run says so. */
function listedGaps({ profile }: Lab, { route, mode }: Scenario): Gap[] {
  const modes: readonly Gap['mode'][] = ['both', mode ?? 'stream'];
  return GAPS.filter(
    (gap) => gap.law === 'cancel-frees' && modes.includes(gap.mode) && gap.routes.includes(route) && gap.listed(profile, route),
  );
}

interface Seen {
  /** Whether the client left before the answer was whole; what is said of the server holds in either case. */
  readonly inTime: boolean;
  /** The known gaps that explain why the engine went on, or what became of a neighbour. */
  readonly gaps: readonly Gap[];
  readonly failures: readonly Failure[];
}

/** Tokens of each request that holds a slot; they run beside each other, so this is also their number of steps. */
const FILLER_TOKENS = 120;

/** Whether the gauges count the steps of this route's engine: the LLM API's model has one of its own, and no metrics. */
async function movesGauges(lab: Lab, route: RouteId): Promise<boolean> {
  const before = await untilIdle(lab);
  const request = requestOf(lab.plan.draw('gauges', 1, (p) => p.eosAtOnce !== true)[0]!, { maxTokens: 2 });
  await lab.run({ request, route, mode: 'stream', repeat: 0 });
  return (await untilIdle(lab)).iteration > before.iteration;
}

/** Undefined when the pool has no prompt for the route. */
async function once(lab: Lab, s: Scenario, i: number, shown: boolean): Promise<Seen | undefined> {
  const natural = s.route === 'openai-completions' || s.route === 'llmapi';
  const request = natural ? longByNature(lab, i) : victim(lab, s.route, i);
  if (request === undefined) return undefined;
  const c: Case = { request, route: s.route, mode: s.mode ?? 'stream', repeat: i };
  const neighbours = lab.plan.draw(`neighbours-${i}`, 2).map((p) => requestOf(p, { maxTokens: 24 }));
  await untilIdle(lab);
  // Known beforehand, so that what arrives can be held against it, and so that a request which is refused is no cancel.
  const [truth, ...truths] = await settled([lab.truthOn(request, s.route), ...neighbours.map((n) => lab.truth(n))]);
  const start = await untilIdle(lab);

  const fillers = s.queued
    ? Array.from({ length: start.maxRequests }, (_, f) => {
        const limits = { maxTokens: FILLER_TOKENS, stopAtEos: false };
        return lab.run({ request: { ...victim(lab, 'raw', f + 1), limits }, route: 'raw', mode: 'stream', repeat: f });
      })
    : [];
  const beside = s.queued ? [] : neighbours.map((n) => lab.run({ request: n, route: 'raw', mode: 'stream', repeat: i }));
  const queued = s.queued ? slotsTaken(lab, start.maxRequests, fillers) : Promise.resolve(true);
  const cancel: Cancel =
    s.cancel === 'leave-while-running' ? { how: 'leave-when', when: (over) => atWorkAlone(lab, settled(beside), over) } : s.cancel;
  const cancelled = queued.then(async () => ({
    transcript: await lab.runCancelled(c, cancel),
    atLeave: (await readGauges(lab)) ?? start,
  }));
  const [wasQueued, { transcript, atLeave }, besideDone, filled] = await settled([queued, cancelled, settled(beside), settled(fillers)]);
  const after = await untilIdle(lab, 30_000);

  const cancelAfter = 'afterEvents' in cancel ? cancel.afterEvents : undefined;
  /** Kept as a fixture: the exchange that was cancelled, or the one beside it that it did something to. */
  const fail = (id: string, code: string, text: string, exchange = transcript): Failure =>
    aboutExchange(
      {
        law: id,
        code,
        text,
        case: viewOf(c),
        ...viewsOf(lab, transcript, { truth, cancelAfter }),
        replay: replayOf(lab, s.id, c.request),
      },
      exchange,
      exchange === transcript ? truth : undefined,
    );
  const byClient = seenByClient(lab, s, cancel, transcript, truth);
  const failures: Failure[] = byClient.map((v) => failureOf(lab, s.id, transcript, v, truth, { cancelAfter }));
  const asked = truth.ids.length;
  const received = s.route === 'raw' ? transcript.ids.length : transcript.events;
  const whole = transcript.ending === 'complete' && cancel.how !== 'stop-tensor';
  const steps = after.iteration - start.iteration;
  // Alone, an answer that nobody stops takes one step per token.
  const others = s.queued ? FILLER_TOKENS : 0;
  // A client that got no processor for a while reads its first events when the engine has long come to its end.
  const overBeforeLeaving = atLeave.iteration - start.iteration >= others + asked * 0.9 - 1;
  const inTime = received < asked && !whole && wasQueued && !overBeforeLeaving;
  const seen = [...besideDone, ...filled].reduce((sum, t) => sum + t.ids.length, received);
  if (shown && steps === 0 && seen > 0)
    failures.push(fail('cancel-frees', 'gauges-stand-still', `${seen} tokens came in all, and iteration_counter did not move`));
  const gaps: Gap[] = [];
  const wentOn = after.iteration - atLeave.iteration;
  if (inTime && byClient.length === 0 && steps > others + asked / 2 && wentOn > asked / 10) {
    const toItsEnd = steps >= others + asked * 0.9 - 1;
    const text = `the client left after ${received} of ${asked} tokens, but the engine made ${steps} steps, ${wentOn} of them afterwards`;
    const code = toItsEnd ? ENGINE_RAN_ON : 'stopped-late';
    const gap = gapFor(transcript, { law: 'cancel-frees', code, text }, lab.lawContext());
    if (gap === undefined) failures.push(fail('cancel-frees', code, text));
    else gaps.push(gap);
  }
  failures.push(...leftBehind(after).map((text) => fail('cancel-frees', 'blocks-held', text)));
  for (const [n, t] of besideDone.entries()) {
    const context = lab.lawContext(truths[n]);
    const known = ANSWERS_AT_ALL.check(t, context).flatMap((unanswered) => gapFor(t, unanswered, context) ?? []);
    gaps.push(...known);
    if (known.length > 0) continue;
    const { verdict, text } = await lab.judge(t, truths[n]!);
    if (failsUnder(lab.policy, verdict))
      failures.push(
        fail(
          'neighbours-unchanged',
          'neighbour-changed',
          `${neighbours[n]!.id}, which ran beside the cancelled request, changed: ${text}`,
          t,
        ),
      );
  }
  for (const t of filled) {
    if (t.ids.length !== FILLER_TOKENS)
      failures.push(
        fail('neighbours-unchanged', 'neighbour-cut', `a request that held a slot gave ${t.ids.length} of ${FILLER_TOKENS} ids`, t),
      );
  }
  if (s.oneAtATime) {
    const next = await lab.run({ request: neighbours[0]!, route: s.route, mode: 'stream', repeat: i });
    const held = ANSWERS_AT_ALL.check(next, lab.lawContext(truths[0]))[0];
    if (held !== undefined) failures.push(failureOf(lab, s.id, next, { ...held, text: `after the cancel, ${held.text}` }, truths[0]));
  }
  if (s.queued && wasQueued && transcript.ids.length > 0)
    failures.push(fail('cancel-frees', 'ran-while-queued', `a request cancelled in the queue still gave ${transcript.ids.length} ids`));
  return { inTime, gaps, failures };
}

/** An exchange that failed is no cancel; of any other, what arrived must be a beginning of the answer. */
function seenByClient(lab: Lab, s: Scenario, cancel: Cancel, t: Transcript, truth: Answer): readonly Violation[] {
  const unanswered = ANSWERS_AT_ALL.applies(t, lab.lawContext(truth)) ? ANSWERS_AT_ALL.check(t, lab.lawContext(truth)) : [];
  if (unanswered.length > 0) return unanswered;
  const [error] = t.errors;
  if (error !== undefined)
    return [{ law: 'answers-at-all', code: 'error', text: `before this client left it got ${error.code}: ${error.message}` }];
  const texts = lab.profile.models.streamedTextHoldsBackPartialCharacters.value ? [truth.text] : [truth.text, decodedAlone(lab, truth)];
  const text = texts.find((whole) => whole.startsWith(t.text)) ?? truth.text;
  const context = {
    ...lab.lawContext({ ...truth, text }),
    cancelAfter: cancel.how === 'stop-tensor' ? cancel.afterEvents : undefined,
  };
  if (!CANCEL_STOPS.applies(t, context)) return [];
  const found = CANCEL_STOPS.check(t, context);
  // The law, which knows no release, lets every text with U+FFFD pass.
  if (found.length > 0 || s.route === 'raw' || text.startsWith(t.text)) return found;
  return [{ law: 'cancel-stops', code: 'not-a-beginning', text: `${JSON.stringify(t.text)} is no beginning of the answer` }];
}

/** What a release streams that decodes every id by itself (gap chunk-decoded-alone). */
function decodedAlone(lab: Lab, { ids }: Answer): string {
  return ids.map((id) => lab.tokenizer.decode([id], { skipSpecialTokens: true })).join('');
}

/** On these routes nothing holds EOS back, so the prompt must be one whose answer is long by itself. */
function longByNature(lab: Lab, i: number): Request | undefined {
  const long = lab.plan.draw('long', 4, (p) => p.long === true);
  const prompt = long[i % Math.max(1, long.length)];
  return prompt && requestOf(prompt, { maxTokens: lab.parts.budget.longTokens }, `-long-${i}`);
}

/** Steps that show a request at work: more than the one that the last of its neighbours may have shared with the gauges. */
const AT_WORK_STEPS = 3;

/** Resolves once the engine is at work on a request whose neighbours are done, or when its exchange is over. */
async function atWorkAlone(lab: Lab, neighbours: Promise<unknown>, over: Promise<unknown>): Promise<void> {
  await neighbours.catch(() => undefined);
  let begun = Number.POSITIVE_INFINITY;
  for await (const { gauges } of gaugesWhile(lab, over)) {
    if (gauges.active === 0) continue;
    begun = Math.min(begun, gauges.iteration);
    if (gauges.iteration >= begun + AT_WORK_STEPS) return;
  }
}

/** Resolves once they hold all slots; with false when they ended before that was seen. */
async function slotsTaken(lab: Lab, max: number, fillers: readonly Promise<unknown>[]): Promise<boolean> {
  for await (const { gauges } of gaugesWhile(lab, Promise.allSettled(fillers))) if (gauges.active >= max) return true;
  return false;
}

/** What of the engine's memory is not free although nothing runs. */
export function leftBehind(after: EngineGauges): string[] {
  const out: string[] = [];
  if (after.blocksUsed !== 0) out.push(`${after.blocksUsed} KV blocks are still in use with nothing running`);
  if (after.blocksFree !== after.blocksMax) out.push(`${after.blocksFree} of ${after.blocksMax} KV blocks are free with nothing running`);
  return out;
}
