import type { Claim, Outcome } from '#checks/lab/claim.ts';
import {
  chances,
  GREEDY_AS_SPELLED,
  GREEDY_ROWS,
  type GreedyRow,
  LENGTH,
  PROBED_ROUTES,
  type Reply,
  servedText,
  type Subject,
  surfaceOf,
  TEMPERATURE_ZERO_SAMPLES,
  winner,
} from '#checks/surface/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { Findings } from './findings.ts';
import { COMPARED } from './run-draws.ts';
import { unservable } from './unservable.ts';
import { askWith, type Work, workOf } from './work.ts';

const LAW = GREEDY_AS_SPELLED;
const SUBJECTS = 2;
/**
 * A row is asked by other seeds until draws from the whole distribution would be the greedy answers by a smaller chance
 * than this. A row that must draw is asked until it would be a wonder: it ends with its first other answer.
 */
const UNLIKELY = { raw: 1e-3, elsewhere: 2e-2, draws: 1e-6 } as const;
const MOST_SEEDS = 20;
/** Where equal requests may differ in their last bits, only prompts whose greedy answer nowhere was closer than this say anything. */
const CLEAR_MARGIN = 0.4;

/** Each row with its own verdict. */
export const greedy: Claim = {
  id: 'greedy-spellings',
  suite: 'parameters',
  statement: 'Every spelling of greedy gives the greedy answer on every route, whatever the seed; what only looks like one draws.',
  routes: PROBED_ROUTES,
  laws: [LAW],
  async run(lab): Promise<Outcome> {
    const unserved = await unservable(lab, PROBED_ROUTES);
    if (unserved !== undefined) return unserved;
    const work = workOf(lab);
    const findings = new Findings(lab, greedy.id);
    for (const route of lab.served(PROBED_ROUTES)) {
      const subjects = await leastCertain(work, route);
      for (const row of GREEDY_ROWS)
        if (row.surfaces.includes(surfaceOf(route, work.profile))) await ask(work, row, route, subjects, findings);
    }
    return findings.outcome('spellings');
  },
};

async function ask(work: Work, row: GreedyRow, route: RouteId, subjects: readonly Subject[], findings: Findings): Promise<void> {
  const where = `"${row.id}"`;
  const first = work.lab.plan.rng(`greedy-${row.id}-${route}`).int(0, 1e9);
  const unlikely = row.gives === 'greedy' ? UNLIKELY[route === 'raw' ? 'raw' : 'elsewhere'] : UNLIKELY.draws;
  let chance = 1;
  for (let i = 0; i < MOST_SEEDS && chance >= unlikely; i++) {
    const subject = subjects[i % subjects.length];
    if (subject === undefined) break;
    const reply = await askWith(work, route, subject, { ...row.words, maxTokens: LENGTH, seed: first + i });
    if (reply.refusal === undefined && isGreedy(work, route, subject, reply)) {
      chance *= likelihood(subject, work);
      continue;
    }
    findings.exercised();
    if (reply.refusal !== undefined) findings.fail(LAW, 'refused', where, reply.refusal, route, subject);
    else if (row.gives === 'gap' && TEMPERATURE_ZERO_SAMPLES.listed(work.profile)) findings.gap(TEMPERATURE_ZERO_SAMPLES, true);
    else if (row.gives !== 'draws') {
      const text = `${JSON.stringify(reply.answers[0]?.text)}, and the greedy answer is ${JSON.stringify(servedText({ ...work, route, subject }, subject.greedy))}`;
      findings.fail(LAW, 'draws', where, text, route, subject);
    }
    return;
  }
  if (chance >= unlikely) return findings.vacuous(LAW, where, route, 'no prompt leaves enough to chance');
  findings.exercised();
  if (row.gives === 'draws') findings.fail(LAW, 'never-draws', where, `always the greedy answer (chance ${chance.toPrecision(1)})`, route);
  else if (row.gives === 'gap' && TEMPERATURE_ZERO_SAMPLES.listed(work.profile)) findings.gap(TEMPERATURE_ZERO_SAMPLES, false);
}

function isGreedy(work: Work, route: RouteId, subject: Subject, { answers }: Reply): boolean {
  const [answer] = answers;
  if (answer?.ids !== undefined) return answer.ids.join() === subject.greedy.join();
  return answer?.text === servedText({ ...work, route, subject }, subject.greedy);
}

/** The prompts whose greedy answer a draw is least likely to give. */
async function leastCertain(work: Work, route: RouteId): Promise<Subject[]> {
  const clear = (s: Subject) => work.exact || s.logits.every((logits) => winner(logits)[1] > CLEAR_MARGIN);
  const all = await work.subjects.pick(route, work.lab.count(...COMPARED), 'clear', clear);
  return all
    .map((subject) => ({ subject, chance: likelihood(subject, work) }))
    .toSorted((a, b) => a.chance - b.chance)
    .slice(0, SUBJECTS)
    .map(({ subject }) => subject);
}

const known = new WeakMap<Subject, number>();

/** Of the greedy answer, when it is drawn from the whole distribution at temperature 1. */
function likelihood(subject: Subject, { tokenizer }: Work): number {
  let p = known.get(subject);
  if (p === undefined) {
    p = subject.logits.reduce((product, logits, k) => product * (chances(logits, {})[subject.greedy[k] ?? tokenizer.eosId ?? -1] ?? 1), 1);
    known.set(subject, p);
  }
  return p;
}
