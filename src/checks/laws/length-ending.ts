import { textOfEvent } from '#core/transcript/index.ts';
import { answered, dataEvents, endFlag, hasFlag, isEmptyEvent, isRaw, isStream, mayBeTextless, violationOf } from './observed.ts';
import type { Law, Violation } from './types.ts';

const broken = violationOf('length-ending');

/** Source: docs/observed.md, end conditions: the response that holds the last token is the last response. */
export const lengthEnding: Law = {
  id: 'length-ending',
  statement: 'An answer that ends at max_tokens has exactly that many tokens, the last one in the last response.',
  routes: 'all',
  applies: (t, { truth }) => answered(t) && truth?.finish === 'length' && (isRaw(t) || isStream(t)),
  check(t, context) {
    const { truth } = context;
    if (truth === undefined) return [];
    const found: Violation[] = [];
    // max_seq_len clips max_tokens at admission, so the accepted answer, not the request, says how many.
    const k = truth.ids.length;
    if (isRaw(t) && t.ids.length !== k) {
      const code = t.ids.length < k ? 'too-few' : 'too-many';
      found.push(broken(code, `${t.ids.length} ids were served, the answer has ${k}`, { token: Math.min(k, t.ids.length) }));
    }
    const last = dataEvents(t).at(-1);
    if (!isStream(t) || last === undefined || k === 0) return found;
    const textless = !isRaw(t) && mayBeTextless(context.tokenizer, truth).at(-1) === true;
    if (isEmptyEvent(t, last) && !textless) {
      found.push(broken('empty-end', 'an empty event follows the last token', { event: last }));
    }
    const flag = endFlag(t);
    if (flag !== undefined && !hasFlag(t, last, flag)) {
      const what = isRaw(t) ? 'the last id' : JSON.stringify(textOfEvent(t, last));
      found.push(broken('last-not-final', `the event with ${what} does not carry the mark of the end`, { event: last }));
    }
    return found;
  },
};
