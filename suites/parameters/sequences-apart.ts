import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { fp32Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { int32 } from '../protocol/requests.ts';
import { draw, Found, MAX_TOKENS } from './found.ts';
import { withRaw } from './raw-reply.ts';

const SEQUENCES = 3;

/** num_return_sequences of a sampled request. */
export const sequencesApart: Claim = {
  id: 'sequences-apart',
  suite: 'parameters',
  statement:
    'Several sequences of one request are sampled apart, repeat with its seed, and come each with its index, the flag on the last.',
  routes: ['raw'],
  laws: ['seed-decides', 'final-flag-once'],
  run: (lab) =>
    withRaw(lab, async (askRaw): Promise<Outcome> => {
      if (!lab.parts.decoupled) return notServed('several sequences are several responses, which needs the decoupled policy');
      const found = new Found(lab, sequencesApart.id, 'seed-decides');
      const prompts = draw(lab, 'sequences', 4);
      let distinct = 0;
      let repeated = 0;
      for (const { name, ids } of prompts) {
        const ask = () =>
          askRaw(ids, MAX_TOKENS, [
            int32('num_return_sequences', [1, 1], [SEQUENCES]),
            int32('runtime_top_k', [1, 1], [50]),
            fp32Tensor('temperature', [1, 1], [2]),
            uint64Tensor(lab.profile.models.seedTensor.value, [1, 1], [1000n]),
          ]);
        const runs = [found.replies(await ask(), name), found.replies(await ask(), name)];
        const sorted = runs.map((replies) => replies?.toSorted((a, b) => (a.sequenceIndex ?? -1) - (b.sequenceIndex ?? -1)));
        if (runs[0] === undefined || sorted[0] === undefined) continue;
        found.cases++;
        const indices = sorted[0].map((reply) => reply.sequenceIndex);
        if (String(indices) !== String(Array.from({ length: SEQUENCES }, (_, i) => i)))
          found.fail('indices', `${name}: sequence_index of the responses is ${indices.join()}`);
        const finals = runs[0].map((reply) => reply.final);
        if (finals.lastIndexOf(false) !== finals.length - 2)
          found.fail('count', `${name}: the flags of the responses are ${finals.join()}`, 'final-flag-once');
        distinct += new Set(sorted[0].map((reply) => String(reply.ids))).size;
        if (String(sorted[0].map((r) => r.ids)) === String(sorted[1]?.map((r) => r.ids))) repeated++;
      }
      if (found.cases > 0 && distinct <= found.cases) found.fail('seeds-ignored', `${SEQUENCES} sequences were one answer on every prompt`);
      // Near ties may turn on a noisy target, but not on every prompt.
      if (found.cases > 0 && repeated < (lab.policy.id === 'exact' ? found.cases : 1))
        found.fail('same-seed-differs', `only ${repeated} of ${found.cases} requests gave the same sequences a second time`);
      found.notes.push(`${distinct} distinct sequences`);
      return found.outcome(`requests of ${SEQUENCES} sequences`);
    }),
};
