import { LockstepError } from '../errors/index.ts';

export interface DeadlineOptions {
  readonly ms: number;
  /** What is being waited for, as a noun phrase: it completes "waited 500 ms for …". */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` under a deadline. `work` gets a signal that aborts at the deadline or when the outer signal aborts.
 *
 * Errors: `deadline` (says what was waited for), `interrupted` (the outer signal aborted).
 */
export async function withDeadline<T>(options: DeadlineOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const inner = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = deadlineError(options);
    reject(error);
    inner.abort(error);
  }, options.ms);
  const onAbort = () => {
    const error = new LockstepError('interrupted', `stopped while waiting for ${options.what}`, { cause: options.signal?.reason });
    reject(error);
    inner.abort(error);
  };
  if (options.signal?.aborted) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(inner.signal), promise]);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** Asks `probe` until it gives a value other than undefined, every `everyMs`, under a deadline. */
export async function pollUntil<T>(
  options: DeadlineOptions & { readonly everyMs: number },
  probe: (signal: AbortSignal) => Promise<T | undefined> | T | undefined,
): Promise<T> {
  return withDeadline(options, async (signal) => {
    for (;;) {
      const value = await probe(signal);
      if (value !== undefined) return value;
      await sleep(options.everyMs, signal);
    }
  });
}

/** A pause that an abort ends early, by rejecting with the signal's reason. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function deadlineError(options: DeadlineOptions): LockstepError {
  return new LockstepError('deadline', `waited ${options.ms} ms for ${options.what}, in vain`);
}
