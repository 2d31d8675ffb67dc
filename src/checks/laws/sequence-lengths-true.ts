import { idsOfEvent } from '#core/transcript/index.ts';
import { answered, dataEvents, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('sequence-lengths-true');

export const sequenceLengthsTrue: Law = {
  id: 'sequence-lengths-true',
  statement: 'sequence_length is the number of ids in its own response.',
  routes: ['raw'],
  applies: answered,
  check(t) {
    const data = dataEvents(t);
    if (data.length !== t.sequenceLengths.length) {
      return [broken('missing', `${data.length} responses with data carry ${t.sequenceLengths.length} values of sequence_length`)];
    }
    for (const [k, event] of data.entries()) {
      const n = idsOfEvent(t, event).length;
      if (t.sequenceLengths[k] !== n)
        return [broken('wrong', `response ${event} says sequence_length ${t.sequenceLengths[k]} and carries ${n} ids`, { event })];
    }
    return [];
  },
};
