import { FLAG, countFlag } from '#core/transcript/index.ts';
import { answered, hasFlag, isStream, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('role-first');

export const roleFirst: Law = {
  id: 'role-first',
  statement: 'A chat stream opens with one event that names the role, and no later event does.',
  routes: ['openai-chat'],
  applies: (t) => answered(t) && isStream(t),
  check(t) {
    const n = countFlag(t, FLAG.role);
    if (n !== 1) return [broken(n === 0 ? 'missing' : 'several', `${n} events name the role`)];
    return hasFlag(t, 0, FLAG.role) ? [] : [broken('not-first', 'the role comes after other events')];
  },
};
