import { OPENAI_ROUTES, answered, dataEvents, violationOf } from './observed.ts';
import type { Answer, Law } from './types.ts';

const broken = violationOf('finish-reason-true');

/** The word for each ending that OpenAI's interface and the LLM API share. */
export function rightFinishReason(finish: Answer['finish']): 'stop' | 'length' {
  return finish === 'length' ? 'length' : 'stop';
}

export const finishReasonTrue: Law = {
  id: 'finish-reason-true',
  statement: 'finish_reason is served once, on the last choice, and says why the answer ended: stop or length.',
  routes: [...OPENAI_ROUTES, 'llmapi'],
  applies: answered,
  check(t, { truth }) {
    const [first, second] = t.finishReasons;
    if (first === undefined) return [broken('missing', 'no finish_reason was served')];
    if (second !== undefined)
      return [broken('several', `finish_reason was served ${t.finishReasons.length} times`, { event: second.event })];
    const last = dataEvents(t).at(-1) ?? -1;
    if (first.event < last) return [broken('early', `choices follow the one with finish_reason`, { event: first.event })];
    if (truth === undefined) return [];
    const right = rightFinishReason(truth.finish);
    if (first.reason === right) return [];
    return [
      broken('wrong', `finish_reason is ${JSON.stringify(first.reason)}, the answer ended by ${truth.finish}: "${right}"`, {
        event: first.event,
      }),
    ];
  },
};
