import { answered, dataEvents, isStream, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('texts-only-grow');

/** What a client has shown it cannot take back. */
export const textsOnlyGrow: Law = {
  id: 'texts-only-grow',
  statement: 'Where every event of a stream brings the whole text so far, each begins with the one before it.',
  routes: ['bls-accumulate', 'llmapi'],
  applies: (t) => answered(t) && isStream(t) && dataEvents(t).length > 1,
  check: (t) =>
    t.revisions.map(({ dropped, event, kept }) =>
      broken('taken-back', `event ${event} takes back ${quote(dropped)}, which stood behind character ${kept}`, { event, char: kept }),
    ),
};
