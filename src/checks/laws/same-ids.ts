import { describeCase } from '#core/request/index.ts';
import { answered, firstDifference, nameId, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('same-ids');

/** Batch invariance, cold equals warm and repeatability are this law with different references. */
export const sameIds: Law = {
  id: 'same-ids',
  statement: 'The same request gives the same ids as before, whatever else happens on the server.',
  routes: ['raw'],
  applies: (t, { reference }) => answered(t) && reference !== undefined && answered(reference),
  check(t, context) {
    const { reference } = context;
    if (reference === undefined) return [];
    const token = firstDifference(t.ids, reference.ids);
    if (token < 0) return [];
    const here = nameId(t.ids[token], context);
    const there = nameId(reference.ids[token], context);
    return [broken('ids', `at token ${token}: ${here}; ${describeCase(reference.case)}: ${there}`, { token })];
  },
};
