import { ACCEPTED_MEANS_APPLIED, type DrawProbe, type Reply, type Subject, servedText, spells, surfaceOf } from '#checks/surface/index.ts';
import { returnsPrompt } from '#checks/laws/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Findings } from './findings.ts';
import { askWith, type Work } from './work.ts';

const LAW = ACCEPTED_MEANS_APPLIED;

/**
 * Draws are made until what was drawn is this many times likelier with the parameter than without it, or the reverse.
 * Whatever the number of draws, a server that ignores the parameter passes with a chance of at most one in as many, and
 * one that applies it fails with the same (Ville's inequality for likelihood ratios; docs/statistics.md).
 */
const ODDS = 1e4;
const MOST_DRAWS = 80;
const SUBJECTS = 4;
/** Prompts whose distributions are compared: of the ordinary run, of the smallest. */
export const COMPARED = [24, 16] as const;

/** Draws first tokens, from the prompts whose distributions differ most, until the odds are clear. */
export async function runDraws(work: Work, probe: DrawProbe, route: RouteId, findings: Findings): Promise<void> {
  if (!spells(surfaceOf(route, work.profile), [...probe.words, 'seed'], work.profile.models)) return;
  const subjects = await telling(work, route, probe.id, (s) => {
    const { applied, ignored } = probe.chances(s.logits[0]!);
    return divergence(applied, ignored);
  });
  if (subjects.length === 0) return findings.vacuous(LAW, probe.id, route, 'no prompt was answered');
  const base = work.lab.plan.rng(`draws-${probe.id}-${route}`).int(0, 1e9);
  let logOdds = 0;
  let draws = 0;
  for (; draws < MOST_DRAWS && Math.abs(logOdds) < Math.log(ODDS); draws++) {
    const subject = subjects[draws % subjects.length]!;
    const reply = await askWith(work, route, subject, { ...probe.with, maxTokens: 1, seed: base + draws });
    if (reply.refusal !== undefined) return findings.fail(LAW, 'refused', probe.id, reply.refusal, route, subject);
    const { applied, ignored } = probe.chances(subject.logits[0]!);
    const [p, q] = [chanceOf(work, route, subject, reply, applied), chanceOf(work, route, subject, reply, ignored)];
    if (p === 0) {
      const text = `${JSON.stringify(reply.answers[0]?.text)} cannot be drawn with it`;
      findings.exercised();
      return findings.fail(LAW, 'outside', probe.id, text, route, subject);
    }
    logOdds += Math.log(p / q);
  }
  findings.exercised();
  const odds = `${draws} first tokens are ${Math.exp(Math.abs(logOdds)).toPrecision(2)} times likelier`;
  if (logOdds <= -Math.log(ODDS)) findings.fail(LAW, 'ignored', probe.id, `${odds} without it`, route);
  else if (logOdds < Math.log(ODDS)) findings.fail(LAW, 'undecided', probe.id, odds, route);
  else findings.draws(draws);
}

const gains = new WeakMap<Subject, Map<string, number>>();

/** The prompts of which one draw tells a probe most; routes share prompts, and what those tell. */
export async function telling(work: Work, route: RouteId, probe: string, gain: (s: Subject) => number): Promise<Subject[]> {
  const all = await work.subjects.pick(route, work.lab.count(...COMPARED), 'all', () => true);
  const gainOf = (s: Subject): number => {
    let known = gains.get(s);
    if (known === undefined) gains.set(s, (known = new Map()));
    let value = known.get(probe);
    if (value === undefined) known.set(probe, (value = gain(s)));
    return value;
  };
  return all.toSorted((a, b) => gainOf(b) - gainOf(a)).slice(0, SUBJECTS);
}

/** What one draw from `p` is expected to add to the logarithm of the odds (Kullback and Leibler). */
function divergence(p: Float64Array, q: Float64Array): number {
  return p.reduce((sum, chance, id) => (chance > 0 ? sum + chance * Math.log(chance / q[id]!) : sum), 0);
}

/** Of the id; where only text is served, of all ids with that text. EOS and control tokens have none. */
export function chanceOf(work: Work, route: RouteId, subject: Subject, reply: Reply, chances: Float64Array): number {
  const [answer] = reply.answers;
  if (answer?.ids !== undefined) return chances[answer.ids[0] ?? work.tokenizer.eosId ?? -1] ?? 0;
  const texts = textsOf(work, route, subject);
  return chances.reduce((sum, chance, id) => (chance > 0 && texts(id) === answer?.text ? sum + chance : sum), 0);
}

const known = new WeakMap<Subject, Map<string, string>>();

/** The whole text that a route serves when this id is the answer; behind a prompt a token may read otherwise than alone. */
function textsOf(work: Work, route: RouteId, subject: Subject): (id: number) => string {
  let texts = known.get(subject);
  if (texts === undefined) known.set(subject, (texts = new Map()));
  const form = returnsPrompt(route, work.profile);
  return (id) => {
    const key = `${form} ${id}`;
    let text = texts.get(key);
    if (text === undefined) texts.set(key, (text = servedText({ ...work, route, subject }, [id])));
    return text;
  };
}
