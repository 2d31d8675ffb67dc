import { violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('framing');

/** A refused request ends with its status and is no matter of framing. */
export const framing: Law = {
  id: 'framing',
  statement: 'A response that has begun ends as its framing says: status OK, the last chunk, the stated length.',
  routes: 'all',
  applies: (t) => t.events > 0 && t.ending !== 'cancelled',
  check(t) {
    if (t.ending === 'complete') return [];
    const what = t.ending === 'deadline' ? 'never ended' : 'broke off';
    return [broken(t.ending === 'deadline' ? 'no-end' : 'cut', `the response ${what} after ${t.events} events`, { event: t.events - 1 })];
  },
};
