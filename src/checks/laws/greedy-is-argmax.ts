import { answered, nameId, violationOf } from './observed.ts';
import { FLOAT32_RESOLUTION } from '#core/stats/index.ts';
import type { Law } from './types.ts';

const broken = violationOf('greedy-is-argmax');

/**
 * Logits of the first token in the wrong tensor, or read with the wrong type, show here (class K of docs/faults.md).
 * Served logits are those before min_tokens suppresses EOS, so requests that ask for it are left out.
 */
export const greedyIsArgmax: Law = {
  id: 'greedy-is-argmax',
  statement: 'A greedy answer takes the token with the largest logit at every step.',
  routes: ['raw'],
  applies: (t) =>
    answered(t) && t.case.request.sampling.kind === 'greedy' && t.case.request.limits.minTokens === undefined && t.margins.length > 0,
  check(t, context) {
    const steps = t.margins.length;
    if (steps < t.ids.length || steps > t.ids.length + 1) {
      return [broken('steps', `${steps} rows of logits were served for ${t.ids.length} ids`)];
    }
    for (let token = 0; token < steps; token++) {
      const margin = t.margins[token] as number;
      if (!(margin >= 0) || margin === Infinity) return [broken('margin', `the margin at token ${token} is ${margin}`, { token })];
      const chosen = token < t.ids.length ? t.ids[token] : undefined;
      if (chosen === undefined || chosen === t.winners[token]) continue;
      // Logits are served as float32: two that are apart in the engine may be level, or change places, in the reply.
      if (chosen === t.runnerUps[token] && margin < FLOAT32_RESOLUTION) continue;
      return [
        broken(
          'not-argmax',
          `${nameId(chosen, context)} was chosen at token ${token}, the logits put ${nameId(t.winners[token], context)} first, ${margin} ahead of the next`,
          { token },
        ),
      ];
    }
    return [];
  },
};
