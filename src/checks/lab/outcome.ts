import { LockstepError } from '#core/errors/index.ts';
import type { Failure } from './result.ts';
import type { Outcome } from './claim.ts';

/** Laws of which one counter-example is enough: `k` counts broken cases, no bound is claimed. */
export function structural(n: number, unit: string, failures: readonly Failure[], more: Partial<Outcome> = {}): Outcome {
  return { n, k: Math.min(n, failures.length), unit, rate: false, failures, ...more };
}

/** For claims about streams, on a repository that has none. */
export const NOT_DECOUPLED = 'the repository is not decoupled, so nothing streams';

export function notServed(reason: string): Outcome {
  return { n: 0, k: 0, unit: '', rate: false, failures: [], notServed: reason };
}

/** What the errors of a lab that is asked for a route or a port which the target does not have make of a claim. */
export function lacking(thrown: unknown): Outcome | undefined {
  const { code, message } = LockstepError.from(thrown);
  return ['route-not-served', 'port-not-served'].includes(code) ? notServed(message.replace(`[${code}] `, '')) : undefined;
}
