import { violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('request-id-echoed');

export const requestIdEchoed: Law = {
  id: 'request-id-echoed',
  statement: 'Every response carries the id of its own request; all chunks of an OpenAI stream carry the same.',
  routes: 'all',
  applies: (t) => t.events > 0,
  check(t) {
    const id = t.foreignIds[0];
    if (id === undefined) return [];
    return [
      broken('foreign-id', `${t.foreignIds.length} responses carry an id that is not this request's, the first ${JSON.stringify(id)}`),
    ];
  },
};
