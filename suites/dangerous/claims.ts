/**
 * What makes some releases crash or hang (docs/observed.md#crashes). Nobody's server is asked without being
 * told to (`--dangerous`); one that this run started is asked in a process of its own, so that a death ends one claim.
 */
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { onItsOwnServer, watched } from '#checks/lab/own-server.ts';
import { cancelAtCompletion } from './cancel-at-completion.ts';
import { EXCHANGES } from './exchanges.ts';
import { survives } from './survives.ts';

export const CLAIMS: readonly Claim[] = [...EXCHANGES.map(survives), cancelAtCompletion].map(whereAllowed);

function whereAllowed(claim: Claim): Claim {
  return {
    ...claim,
    async run(lab): Promise<Outcome> {
      const { dangerous } = lab.parts;
      if (dangerous === 'no') return notServed('it makes some releases crash or hang; --dangerous tries it');
      return dangerous === 'here' ? watched(claim, lab) : onItsOwnServer(claim, lab);
    },
  };
}
