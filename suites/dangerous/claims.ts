/**
 * What makes some releases crash or hang (docs/observed.md#crashes). Nobody's server is asked without being
 * told to (`--dangerous`); one that this run started is asked in a process of its own, so that a death ends one claim.
 */
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import type { Failure } from '#checks/lab/result.ts';
import { LockstepError } from '#core/errors/index.ts';
import { cancelAtCompletion } from './cancel-at-completion.ts';
import { EXCHANGES } from './exchanges.ts';
import { survives } from './survives.ts';

export const CLAIMS: readonly Claim[] = [...EXCHANGES.map(survives), cancelAtCompletion].map(onItsOwnServer);

function onItsOwnServer(claim: Claim): Claim {
  return {
    ...claim,
    async run(lab): Promise<Outcome> {
      const { dangerous, restart } = lab.parts;
      if (dangerous === 'no') return notServed('it makes some releases crash or hang; --dangerous tries it');
      if (dangerous === 'here' || restart === undefined) return onServer(lab);
      await using other = await restart();
      return await onServer(other.lab);
    },
  };

  /** Looks at the process last: the one who asks the run's own server would not see this one die. */
  async function onServer(lab: Lab): Promise<Outcome> {
    const died: Failure[] = [];
    let outcome = structural(0, '', []);
    try {
      outcome = await claim.run(lab);
    } catch (thrown) {
      const { code, message } = LockstepError.from(thrown);
      if (code !== 'server-died') throw thrown;
      died.push({ law: 'server-survives', code, text: message.replace('[server-died] ', '') });
    }
    const health = await lab.parts.health();
    const said = died.length > 0 || outcome.failures.some((f) => f.law === 'server-survives');
    if (!health.alive && !said) died.push({ law: 'server-survives', code: 'server-died', text: health.detail });
    return { ...outcome, failures: [...died, ...outcome.failures] };
  }
}
