import { FLAG, type Transcript, countFlag } from '#core/transcript/index.ts';
import { answered, dataEvents, firstDifference, isRaw, nameId, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('cancel-stops');

/** A cancel that came after the end was no cancel. */
function endedBefore(t: Transcript): boolean {
  return countFlag(t, FLAG.final) + countFlag(t, FLAG.done) > 0;
}

/**
 * What the client can see of a cancel; whether the engine stopped is asked of the metrics, elsewhere. A stop by tensor
 * ends the original request in order, so only `cancelAfter` tells such a transcript from a whole answer.
 */
export const cancelStops: Law = {
  id: 'cancel-stops',
  statement: 'A cancelled answer is a beginning of the whole one, and does not run on to its end.',
  routes: 'all',
  applies: (t, { cancelAfter }) => (t.ending === 'cancelled' ? !endedBefore(t) : cancelAfter !== undefined && answered(t)),
  check(t, context) {
    const { truth, cancelAfter } = context;
    if (truth === undefined) return [];
    if (isRaw(t)) {
      const token = firstDifference(t.ids, truth.ids);
      if (token >= 0 && token < t.ids.length) {
        return [
          broken(
            'not-a-beginning',
            `${nameId(t.ids[token], context)} at token ${token}, the answer has ${nameId(truth.ids[token], context)}`,
            { token },
          ),
        ];
      }
    } else if (!t.text.includes('\ufffd') && t.case.mode === 'stream' && !truth.text.startsWith(t.text)) {
      return [broken('not-a-beginning', `${quote(t.text, t.text.length)} is no beginning of the answer`, { char: t.text.length })];
    }
    const n = isRaw(t) ? t.ids.length : dataEvents(t).length;
    if (cancelAfter === undefined || truth.ids.length <= cancelAfter || n < truth.ids.length) return [];
    return [broken('whole-answer', `all ${truth.ids.length} tokens arrived although a stop was asked for after ${cancelAfter}`)];
  },
};
