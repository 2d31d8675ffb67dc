import { type Answer, firstDifference } from '#checks/laws/index.ts';
import { ROUTES } from '#checks/routes/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { rateKept } from '#core/stats/index.ts';
import { COMPANY, PASSES } from './smaller.ts';
import { triedAgain } from './tried-again.ts';
import type { Stage } from './stage.ts';
import type { FailingCase, Removal, SearchEnd, Sighting, Tries } from './types.ts';

export interface Shrunk {
  readonly first: FailingCase;
  /** How often the first one failed. */
  readonly before: Tries;
  readonly smallest: FailingCase;
  /** How often the smallest one failed when it was tried again at the end; n is 0 when nothing was left to try it with. */
  readonly after: Tries;
  /** Of the smallest one. */
  readonly sighting: Sighting;
  readonly removals: readonly Removal[];
  readonly requests: number;
  readonly ended: SearchEnd;
  /** Why it ended, where it was not by itself. */
  readonly note: string | undefined;
}

/** Tries amid neighbours before what was asked earlier is held to be needed. */
const MEETINGS = 6;
/** The part of the budget that is for the search. */
const SEARCH = 0.9;

const HIDDEN = 'the smallest case does not fail on a server that nothing else was asked';

export interface ShrinkOptions {
  readonly onRemoval?: (removal: Removal) => void;
}

/** What ends the search, and leaves what was found so far. */
const ENDS: Readonly<Record<string, SearchEnd>> = {
  'budget-spent': 'budget',
  'server-died': 'server-died',
};

/** Errors that say of a candidate that it does not fail as the first case did. */
const OTHERWISE: readonly string[] = ['no-answer', 'deadline', 'no-engine-metrics', 'route-not-served'];

/**
 * The smallest case that still breaks the law in the same way: what it needs of company, max_tokens, parameters, stop words
 * and prompt. A case that fails now and then is held to its rate (`rateKept`).
 *
 * Errors: `not-reproduced` when the first case does not fail at all; those of `Stage.try` before anything was found.
 */
export async function shrink(given: FailingCase, stage: Stage, options: ShrinkOptions = {}): Promise<Shrunk> {
  const shrunk = await search(given, stage, options);
  if (shrunk.note !== HIDDEN || stage.alwaysNew) return shrunk;
  // What earlier tries left on the server was a part of the company.
  stage.alwaysNew = true;
  return search(given, stage, options);
}

async function search(given: FailingCase, stage: Stage, { onRemoval }: ShrinkOptions): Promise<Shrunk> {
  const known = new Map<string, boolean>();
  const removals: Removal[] = [];
  const first = await withAskableTruth(given, stage);
  const start = await leastCompany(first, stage);
  stage.alwaysNew ||= start.company.before.length > 0 && stage.renewable;
  const { tries: before, sighting: firstSighting } = await measured(start, stage);
  const rate = before.k / before.n;
  let smallest = start;
  let sighting = firstSighting;

  /** Undefined: the violation is not kept. */
  const kept = async (candidate: FailingCase): Promise<Sighting | undefined> => {
    let seen: Sighting | undefined;
    for (let n = 0, k = 0; ;) {
      const found = await triedOtherwise(candidate, stage);
      n++;
      if (found !== undefined) {
        k++;
        seen = found;
      }
      const decision = rateKept(rate, { n, k });
      if (decision !== 'open') return decision === 'kept' ? seen : undefined;
    }
  };
  const stillFails = async (candidate: FailingCase): Promise<boolean> => {
    if (ROUTES[candidate.case.route].cannotCarry(candidate.case, stage.lab.profile) !== undefined) return false;
    const key = canonicalJson([candidate.case.request, candidate.asked, candidate.company]);
    const answer = known.get(key);
    if (answer !== undefined) return answer;
    const found = await kept(candidate);
    known.set(key, found !== undefined);
    if (found === undefined) return false;
    smallest = candidate;
    sighting = found;
    return true;
  };

  const tell = (whats: readonly string[], from: FailingCase, to: FailingCase): void => {
    for (const { what, size } of PASSES) {
      const [old, now] = [size(from, stage.lab.tokenizer), size(to, stage.lab.tokenizer)];
      if (old === now || !whats.includes(what)) continue;
      const removal = { what, from: old, to: now, requests: stage.spent };
      removals.push(removal);
      onRemoval?.(removal);
    }
  };
  tell(COMPANY, first, start);

  let ended: SearchEnd = 'minimal';
  let note: string | undefined;
  let after: Tries = { n: 0, k: 0 };
  const endedBy = (thrown: unknown): void => {
    const error = LockstepError.from(thrown);
    const end = stage.interrupted ? 'interrupted' : ENDS[error.code];
    if (end === undefined) throw thrown;
    ended = end;
    note = end === 'interrupted' ? 'stopped by the user' : error.message.replace(/^\[.*?\] /, '');
  };
  stage.limit = Math.floor(stage.budget * SEARCH);
  try {
    for (let round = '', previous: string | undefined; round !== previous;) {
      previous = round;
      for (const { what, pass } of PASSES) {
        const from = smallest;
        // What a pass found before it was broken off counts too.
        await pass(from, stillFails).finally(() => tell([what], from, smallest));
      }
      round = canonicalJson([smallest.case, smallest.asked, smallest.company]);
    }
  } catch (thrown) {
    endedBy(thrown);
  }
  stage.limit = stage.budget;
  if (ended === 'minimal' || ended === 'budget') {
    try {
      if (stage.renewable) await stage.renew('nobody else asked it anything');
      const again = await triedAgain(smallest, stage);
      after = again.tries;
      sighting = again.sighting ?? sighting;
      if (after.k === 0) note = HIDDEN;
    } catch (thrown) {
      endedBy(thrown);
    }
  }
  return { first, before, smallest, after, sighting, removals, requests: stage.spent, ended, note };
}

/** Most cases need no company, and each try in it costs as many requests as it has: first alone, then with neighbours only. */
async function leastCompany(first: FailingCase, stage: Stage): Promise<FailingCase> {
  const { before, beside } = first.company;
  const alone = { ...first, company: { before: [], beside: [] } };
  if (before.length + beside.length === 0 || (await triedOtherwise(alone, stage)) !== undefined) return alone;
  const amidNeighbours = { ...first, company: { before: [], beside } };
  if (beside.length === 0 || before.length === 0) return first;
  // What depends on who meets whom in a batch does not fail every time.
  for (let n = 0; n < MEETINGS; n++) if ((await triedOtherwise(amidNeighbours, stage)) !== undefined) return amidNeighbours;
  return first;
}

/** A golden can be asked for anew where the server alone gives the very answer; then prompt and parameters can change. */
async function withAskableTruth(failing: FailingCase, stage: Stage): Promise<FailingCase> {
  const { golden } = failing;
  if (golden === undefined) return failing;
  const alone = await stage.truth(failing.case.request, failing.case.route).catch(() => undefined);
  return alone !== undefined && sameAnswer(alone, golden) ? { ...failing, golden: undefined } : failing;
}

function sameAnswer(a: Answer, b: Answer): boolean {
  return firstDifference(a.ids, b.ids) < 0 && a.finish === b.finish;
}

/** A candidate that gets no answer to judge does not fail as the first one did; one that kills the server has found another defect. */
async function triedOtherwise(candidate: FailingCase, stage: Stage): Promise<Sighting | undefined> {
  try {
    return await stage.try(candidate);
  } catch (thrown) {
    const { code } = LockstepError.from(thrown);
    if (OTHERWISE.includes(code) || (code === 'server-died' && stage.renewable)) return undefined;
    throw thrown;
  }
}

async function measured(failing: FailingCase, stage: Stage): Promise<{ readonly tries: Tries; readonly sighting: Sighting }> {
  const { tries, sighting } = await triedAgain(failing, stage);
  if (sighting !== undefined) return { tries, sighting };
  const { law, code } = failing.violation;
  throw new LockstepError('not-reproduced', `${law} (${code}) was not broken again in ${tries.n} tries`, {
    hint: 'Give the target, profile and faults that it was recorded on; what needs more company than the fixture remembers is repeated by the replay command alone.',
  });
}
