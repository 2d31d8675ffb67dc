import { LockstepError } from '#core/errors/index.ts';
import type { Claim, Outcome } from './claim.ts';
import type { Lab } from './lab.ts';
import { structural } from './outcome.ts';
import type { Failure } from './result.ts';

/** Runs a claim on a second server made like the target, where one can be made: should it die, only this claim is lost. */
export async function onItsOwnServer(claim: Pick<Claim, 'run'>, lab: Lab): Promise<Outcome> {
  const { restart } = lab.parts;
  if (restart === undefined) return watched(claim, lab);
  await using other = await restart();
  return await watched(claim, other.lab);
}

/** Looks at the process last: the one who asks the run's own server would not see this one die. */
export async function watched(claim: Pick<Claim, 'run'>, lab: Lab): Promise<Outcome> {
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
