import { FLAG, countFlag } from '#core/transcript/index.ts';
import { OPENAI_ROUTES, answered, hasFlag, isStream, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('done-marker');

export const doneMarker: Law = {
  id: 'done-marker',
  statement: 'An OpenAI stream ends with one [DONE], and nothing follows it.',
  routes: OPENAI_ROUTES,
  applies: (t) => answered(t) && isStream(t),
  check(t) {
    const n = countFlag(t, FLAG.done);
    if (n !== 1) return [broken(n === 0 ? 'missing' : 'several', `${n} [DONE] in ${t.events} events`)];
    return hasFlag(t, t.events - 1, FLAG.done) ? [] : [broken('not-last', 'events follow [DONE]', { event: t.events - 1 })];
  },
};
