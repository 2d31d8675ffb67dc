import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Endpoints, Health, Target } from '../types.ts';
import { readIdentity } from './identity.ts';
import { grpcLive, httpReady, tcpOpen, waitForAll } from '../wait.ts';

export interface ExternalOptions {
  readonly endpoints: Endpoints;
  readonly signal?: AbortSignal | undefined;
  /** How long the server may take to be ready, in milliseconds. */
  readonly readyWithinMs?: number;
}

const READY_WITHIN_MS = 5_000;
const IDENTITY_WITHIN_MS = 5_000;
const HEALTH_WITHIN_MS = 3_000;

/**
 * Checks that every given address answers, and asks the server who it is.
 *
 * Errors: `target-unreachable` (names the addresses that did not answer), `interrupted`.
 */
export async function connectExternalTarget(options: ExternalOptions): Promise<Target> {
  const { endpoints, signal } = options;
  const { access } = endpoints;
  const strategies = [httpReady(endpoints.http, '/v2/health/ready', access), grpcLive(endpoints.grpc, access)];
  if (endpoints.metrics !== undefined) strategies.push(tcpOpen(endpoints.metrics));
  if (endpoints.openai !== undefined) strategies.push(tcpOpen(endpoints.openai));
  try {
    await waitForAll(strategies, { ms: options.readyWithinMs ?? READY_WITHIN_MS, signal });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code !== 'deadline') throw error;
    throw new LockstepError('target-unreachable', error.message.replace(/^\[deadline\] /, ''), {
      hint: 'Start the server, or correct the address; `lockstep doctor` with the same flags looks at each one.',
      context: { grpc: endpoints.grpc, http: endpoints.http, metrics: endpoints.metrics, openai: endpoints.openai },
      cause: error,
    });
  }
  const identity = await withDeadline({ ms: IDENTITY_WITHIN_MS, what: `${endpoints.http}/v2 to say what it serves`, signal }, (inner) =>
    readIdentity(endpoints, inner),
  );
  return {
    kind: 'external',
    endpoints,
    identity,
    health: () => askHealth(endpoints),
    processes: async () => [],
    logTail: () => [],
    stop: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The process cannot be seen from here; that the server answers is all there is to know. */
export async function askHealth(endpoints: Endpoints): Promise<Health> {
  const { access } = endpoints;
  const strategies = [httpReady(endpoints.http, '/v2/health/live', access), grpcLive(endpoints.grpc, access)];
  try {
    await waitForAll(strategies, { ms: HEALTH_WITHIN_MS });
    return { alive: true, detail: '' };
  } catch (thrown) {
    return { alive: false, detail: LockstepError.from(thrown).message };
  }
}
