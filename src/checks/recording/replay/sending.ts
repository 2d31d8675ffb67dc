import { LockstepError } from '#core/errors/index.ts';
import type { ClientEndpoints } from '#wire/clients/index.ts';
import type { FixtureEvent } from '../types.ts';

/** What both protocols need to know of one sending. */
export interface Sending {
  readonly endpoints: ClientEndpoints;
  /** Times as fast as recorded. */
  readonly speed: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly events: readonly FixtureEvent[];
  /** The client goes away where it went, and when: pieces of the answer that had come by then. */
  readonly leaveAfter: number | undefined;
}

/** Hidden by the recorder: the target has secrets of its own. */
export function isHidden(value: string): boolean {
  return value.includes('***');
}

export function unreachable(address: string, thrown: unknown): LockstepError {
  return new LockstepError('target-unreachable', `${address} cannot be reached: ${(thrown as Error).message}`, {
    hint: 'Look whether the server runs, and at the address.',
    cause: thrown,
  });
}
