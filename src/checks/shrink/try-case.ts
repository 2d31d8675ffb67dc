/** One try of a failing case: its company, then the case, then a look for the one violation. */
import { failsUnder } from '#checks/compare/index.ts';
import { VERDICTS } from '#checks/compare/types.ts';
import { untilIdle } from '#checks/lab/engine-gauges.ts';
import { exchangeOf } from '#checks/lab/fixtures.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { settled } from '#checks/lab/settled.ts';
import { type Answer, ENGINE_RAN_ON, LAWS, answerOf, judge } from '#checks/laws/index.ts';
import type { Asked, Companion } from '#checks/recording/index.ts';
import type { RunOptions } from '#checks/routes/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import { FLOAT32_RESOLUTION } from '#core/stats/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { acceptedPart } from './accepted-part.ts';
import type { FailingCase, Sighting } from './types.ts';

/** What a try needs of the one who has the server. */
export interface Ground {
  readonly lab: Lab;
  /** What the server answers to a request alone. */
  truth(request: Request, route: RouteId): Promise<Answer>;
}

/** Undefined: the violation was not seen. Errors: `server-died`, `budget-spent`, `interrupted`, and those of labs. */
export async function tryCase(ground: Ground, failing: FailingCase): Promise<Sighting | undefined> {
  const { law, code } = failing.violation;
  if (law === 'server-survives') return dies(ground, failing);
  if (law === 'cold-equals-warm') return parts(ground, failing);
  if (law === 'cancel-frees') return holds(ground, failing);
  if (law === 'neighbours-unchanged') return compared(ground, failing, undefined);
  if ((VERDICTS as readonly string[]).includes(code)) return compared(ground, failing, code);
  return judged(ground, failing);
}

/** The options that a recorded request was sent with. */
export function optionsOf({ logProbs, margins, cancel }: Asked): Partial<RunOptions> {
  return {
    ...(logProbs === undefined ? {} : { logProbs }),
    ...(margins === undefined ? {} : { margins }),
    ...(cancel === undefined || cancel.how === 'leave-when' ? {} : { cancel }),
  };
}

const ran = (lab: Lab, { case: c, asked }: Companion) => lab.run(c, optionsOf(asked));

/** The case amid its company. A companion's own answer is nobody's business here. */
async function amid({ lab }: Ground, { case: c, asked, company }: FailingCase): Promise<Amid> {
  const before: Transcript[] = [];
  for (const one of company.before) before.push(await ran(lab, one));
  const beside = company.beside.map((one) => ran(lab, one));
  const all = await settled([...beside, ran(lab, { case: c, asked })]);
  return { transcript: all.at(-1)!, companions: [...before, ...all.slice(0, -1)] };
}

interface Amid {
  readonly transcript: Transcript;
  readonly companions: readonly Transcript[];
}

/** The accepted answer for this very request: the server's own to it alone, or a part of the golden. */
function truthOf(ground: Ground, { case: c, golden }: FailingCase): Promise<Answer> {
  return golden === undefined
    ? ground.truth(c.request, c.route)
    : Promise.resolve(acceptedPart(golden, c.request.limits.maxTokens, ground.lab.tokenizer));
}

async function judged(ground: Ground, failing: FailingCase): Promise<Sighting | undefined> {
  const { lab } = ground;
  const { law, code } = failing.violation;
  const { case: c, asked } = failing;
  // A server that gives no answer at all gives none to be told beforehand either.
  const truth = law === 'answers-at-all' || law === 'framing' ? undefined : await truthOf(ground, failing);
  const beside = law === 'bls-is-ensemble' || law === 'ends-alike';
  const reference = beside ? await ran(lab, { case: { ...c, route: 'ensemble' }, asked }) : undefined;
  const { transcript, companions } = await amid(ground, failing);
  const cancelAfter = asked.cancel?.how === 'stop-tensor' ? asked.cancel.afterEvents : undefined;
  const { violations } = judge(
    [transcript],
    LAWS.filter(({ id }) => id === law),
    { ...lab.lawContext(truth), reference, cancelAfter },
  );
  const found = violations.find(({ violation }) => violation.code === code);
  return found && { text: found.violation.text, transcript, companions, truth, reference };
}

/** Characters of an answer: a shorter one is right for many prompts, and proves no mix-up. */
const DISTINCTIVE = 16;

async function compared(ground: Ground, failing: FailingCase, verdict: string | undefined): Promise<Sighting | undefined> {
  const { lab } = ground;
  const truth = await truthOf(ground, failing);
  const { transcript, companions } = await amid(ground, failing);
  const foreign = companions
    .map((t) => ({ request: t.case.request.id, text: answerOf(t, lab.tokenizer)?.text ?? t.text }))
    .filter(({ text }) => verdict === 'contaminated' && text.length >= DISTINCTIVE);
  const comparison = await lab.judge(transcript, truth, foreign.length === 0 ? {} : { foreign });
  const same = verdict === undefined ? failsUnder(lab.policy, comparison.verdict) : comparison.verdict === verdict;
  return same ? { text: comparison.text, transcript, companions, truth } : undefined;
}

/** On a server that never saw the prompt: the first call against the second. */
async function parts({ lab }: Ground, { case: c, violation }: FailingCase): Promise<Sighting | undefined> {
  const cold = await lab.run({ ...c, repeat: 0 }, { logProbs: true });
  const warm = await lab.run({ ...c, repeat: 1 }, { logProbs: true });
  const accepted = answerOf(cold, lab.tokenizer);
  if (accepted === undefined) return undefined;
  const { verdict, divergence, text } = await lab.judge(warm, accepted);
  const found = { transcript: warm, truth: accepted, reference: cold };
  if (violation.code === 'ids')
    return failsUnder(lab.policy, verdict) ? { ...found, text: `the first call and the second differ: ${text}` } : undefined;
  const until = divergence?.token ?? Math.min(cold.logProbs.length, warm.logProbs.length);
  let gap = 0;
  for (let i = 0; i < until; i++) gap = Math.max(gap, Math.abs(cold.logProbs[i]! - warm.logProbs[i]!));
  return gap > FLOAT32_RESOLUTION && verdict === 'identical'
    ? { ...found, text: `log-probabilities of the first call and the second differ by ${gap.toPrecision(2)}` }
    : undefined;
}

/** What the engine does for a client that has gone, by its gauges. */
async function holds(ground: Ground, failing: FailingCase): Promise<Sighting | undefined> {
  const { lab } = ground;
  const truth = await truthOf(ground, failing);
  const start = await untilIdle(lab);
  const { transcript } = await amid(ground, { ...failing, company: { before: [], beside: [] } });
  const end = await untilIdle(lab, 30_000);
  const found = { transcript, truth };
  const held = end.blocksUsed - start.blocksUsed;
  if (failing.violation.code === 'blocks-held')
    return held > 0 ? { ...found, text: `${held} KV blocks are still in use with nothing running` } : undefined;
  if (failing.violation.code !== ENGINE_RAN_ON || transcript.ending !== 'cancelled') return undefined;
  const received = failing.case.route === 'raw' ? transcript.ids.length : transcript.events;
  const steps = end.iteration - start.iteration;
  const asked = truth.ids.length;
  // As in the claim: a cancel in time leaves half of the answer undone, and an engine that goes on makes all of it.
  return received < asked / 2 && steps >= asked * 0.9 - 1
    ? { ...found, text: `the client left after ${received} of ${asked} tokens, but the engine made ${steps} steps` }
    : undefined;
}

async function dies(ground: Ground, failing: FailingCase): Promise<Sighting | undefined> {
  try {
    const { transcript, companions } = await amid(ground, failing);
    const { alive, detail } = await ground.lab.healthSoon(true);
    return alive ? undefined : { text: detail, transcript, companions, truth: undefined };
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code !== 'server-died') throw thrown;
    return { text: error.message.replace(/^\[.*?\] /, ''), transcript: exchangeOf(error), truth: undefined };
  }
}
