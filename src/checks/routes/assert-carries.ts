import { LockstepError } from '#core/errors/index.ts';
import { type Case, describeCase } from '#core/request/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Cancel, Route, RunOptions } from './types.ts';

/** Refuses a case that the caller should not have sent. Errors: `case-not-carriable`, `cancel-not-carriable`. */
export function assertCarries(
  route: Route,
  c: Case,
  options: RunOptions,
  cancels: readonly Cancel['how'][],
  profile?: ReleaseProfile,
): void {
  const why = c.route === route.id ? route.cannotCarry(c, profile) : `it is meant for ${c.route}`;
  if (why !== undefined) {
    throw new LockstepError('case-not-carriable', `${describeCase(c)} cannot run on ${route.id}: ${why}`, {
      hint: 'Ask cannotCarry before running a case.',
    });
  }
  if (options.cancel !== undefined && !cancels.includes(options.cancel.how)) {
    throw new LockstepError('cancel-not-carriable', `${route.id} cannot be cancelled by ${options.cancel.how}`, {
      hint: `Use one of: ${cancels.join(', ')}.`,
    });
  }
}
