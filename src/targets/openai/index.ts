/** A server of which only an OpenAI endpoint is known: Triton's front end, trtllm-serve or a gateway before either. */
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { HttpChannel } from '#wire/clients/index.ts';
import { httpReady, waitForAll } from '../wait.ts';
import type { Endpoints, Health, Target } from '../types.ts';

export interface OpenAiOptions {
  readonly endpoints: Endpoints & { readonly openai: string };
  readonly signal?: AbortSignal | undefined;
  /** How long it may take to be ready, in milliseconds. */
  readonly readyWithinMs?: number;
}

/** The one path that every OpenAI endpoint has and that costs nothing; /health is called otherwise by each of them. */
const MODELS = '/v1/models';
const READY_WITHIN_MS = 5_000;
const IDENTITY_WITHIN_MS = 5_000;
const HEALTH_WITHIN_MS = 3_000;
const UNKNOWN = 'unknown';

/**
 * Waits until the endpoint lists its models, and asks it who it is.
 *
 * Errors: `target-unreachable`, `interrupted`.
 */
export async function connectOpenAiTarget({ endpoints, signal, readyWithinMs = READY_WITHIN_MS }: OpenAiOptions): Promise<Target> {
  const { openai, access } = endpoints;
  try {
    await waitForAll([httpReady(openai, MODELS, access)], { ms: readyWithinMs, signal });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code !== 'deadline') throw error;
    throw new LockstepError('target-unreachable', error.message.replace(/^\[deadline\] /, ''), {
      hint: 'Start the server, or correct the address: it is the base URL, without /v1. A gateway may want --bearer-token-file.',
      context: { openai },
      cause: error,
    });
  }
  const identity = await withDeadline({ ms: IDENTITY_WITHIN_MS, what: `${openai} to say what it serves`, signal }, (inner) =>
    readIdentity(endpoints, inner),
  );
  const health = () => askOpenAiHealth(endpoints);
  const nothing = async () => {};
  return {
    kind: 'openai',
    endpoints,
    identity,
    health,
    processes: async () => [],
    logTail: () => [],
    stop: nothing,
    [Symbol.asyncDispose]: nothing,
  };
}

/** Whether it still lists its models; there is nothing else to look at. */
export async function askOpenAiHealth({ openai, access }: Endpoints): Promise<Health> {
  try {
    await waitForAll([httpReady(openai ?? '', MODELS, access)], { ms: HEALTH_WITHIN_MS });
    return { alive: true, detail: '' };
  } catch (thrown) {
    return { alive: false, detail: LockstepError.from(thrown).message };
  }
}

async function readIdentity(
  { openai, access }: OpenAiOptions['endpoints'],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  await using channel = new HttpChannel(openai, access);
  const ask = <T>(path: string): Promise<T | undefined> =>
    channel.json<T>({ method: 'GET', path }, { signal, deadlineMs: IDENTITY_WITHIN_MS }).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
  const models = await ask<{ readonly data?: readonly { readonly id?: string; readonly owned_by?: string }[] }>(MODELS);
  // trtllm-serve tells its release here; Triton's front end and most gateways have no such path.
  const version = await ask<{ readonly version?: string }>('/version');
  const served = (models?.data ?? []).map(({ id = UNKNOWN }) => id).toSorted();
  return {
    served: served.join(' ') || UNKNOWN,
    'owned by': models?.data?.[0]?.owned_by ?? UNKNOWN,
    'tensorrt-llm': typeof version?.version === 'string' ? version.version : UNKNOWN,
    triton: UNKNOWN,
    image: UNKNOWN,
    gpu: UNKNOWN,
    engine: UNKNOWN,
  };
}
