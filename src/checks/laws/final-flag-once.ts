import { FLAG, countFlag } from '#core/transcript/index.ts';
import { GRPC_ROUTES, answered, hasFlag, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('final-flag-once');

/** Source: docs/observed.md (triton_final_response with triton_enable_empty_final_response set). */
export const finalFlagOnce: Law = {
  id: 'final-flag-once',
  statement: 'Exactly one response carries triton_final_response = true, and nothing follows it.',
  routes: GRPC_ROUTES,
  applies: answered,
  check(t) {
    const finals = countFlag(t, FLAG.final);
    if (finals === 0) return [broken('no-final', `${t.events} responses, none with the final flag`)];
    if (finals > 1) return [broken('several-finals', `${finals} responses carry the final flag`)];
    for (let i = 0; i < t.events - 1; i++) {
      if (hasFlag(t, i, FLAG.final)) return [broken('after-final', `${t.events - 1 - i} responses follow the final one`, { event: i + 1 })];
    }
    return [];
  },
};
