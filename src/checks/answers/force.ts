import type { Lab } from '#checks/lab/lab.ts';
import { answerOf, firstDifference } from '#checks/laws/index.ts';
import type { AnswersRecord, Forced, ForcedFlip } from './types.ts';

/** Differences that are followed in one answer; a model that is wrong differs everywhere. */
const FLIPS_PER_ANSWER = 4;
const ANSWERS = 40;

/**
 * Teacher forcing: behind the first difference between two answers every token differs, so the new target is given the old answer
 * up to and with the token where they parted, and goes on from there; and so on at the next difference. Each position is then
 * judged by what both were given alike.
 *
 * Errors: as `recordAnswers`.
 */
export async function forceAnswers(lab: Lab, old: AnswersRecord, now: AnswersRecord): Promise<Forced | undefined> {
  if (lab.parts.notServed.has('raw') || old.items.length === 0) return undefined;
  const margins = await lab.marginsServed();
  const answers = new Map(now.items.map(({ request, answer }) => [request.id, answer]));
  const flips: ForcedFlip[] = [];
  let positions = 0;
  let followed = 0;
  for (const { request, answer } of old.items) {
    const other = answers.get(request.id);
    if (other === undefined) continue;
    let at = firstDifference(answer.ids, other.ids);
    if (at < 0 || at >= answer.ids.length) continue;
    if (++followed > ANSWERS) break;
    for (let found = 0; found < FLIPS_PER_ANSWER && at + 1 < answer.ids.length; found++) {
      const given = answer.ids.slice(0, at + 1);
      const rest = answer.ids.slice(at + 1);
      const t = await lab.run(
        {
          request: {
            id: `${request.id}-forced`,
            prompt: { kind: 'ids', ids: [...answer.promptIds, ...given] },
            sampling: { kind: 'greedy' },
            limits: { ...request.limits, maxTokens: rest.length },
          },
          route: 'raw',
          mode: 'unary',
          repeat: 0,
        },
        { logProbs: true, margins },
      );
      const forced = answerOf(t, lab.tokenizer);
      if (forced === undefined) break;
      const next = firstDifference(rest, forced.ids);
      positions += next < 0 ? rest.length : next + 1;
      if (next < 0 || next >= rest.length) break;
      const position = at + 1 + next;
      flips.push({
        request: request.id,
        position,
        oldId: answer.ids[position]!,
        newId: forced.ids[next] ?? lab.tokenizer.eosId ?? -1,
        oldMargin: answer.margins[position],
        newMargin: forced.margins[next],
        oldRunnerUp: answer.runnerUps[position],
        newRunnerUp: forced.runnerUps[next],
      });
      at = position;
    }
  }
  return { positions, flips };
}
