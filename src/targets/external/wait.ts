/** Wait strategies: small objects that each wait for one thing; all of them run under one deadline. */
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { sleep, withDeadline } from '#core/deadline/index.ts';
import type { LockstepError } from '#core/errors/index.ts';

export interface WaitStrategy {
  /** Completes "waited 500 ms for …". */
  readonly what: string;
  /** Resolves when it is so; rejects when it never will be. */
  until(signal: AbortSignal): Promise<void>;
}

export interface WaitOptions {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  /** Strategies that only ever reject: they end the wait early. */
  readonly failFast?: readonly WaitStrategy[];
}

const EVERY_MS = 50;

/** Waits for all of them. Errors: `deadline` (names what has not come), `interrupted`, and what a strategy rejects with. */
export async function waitForAll(strategies: readonly WaitStrategy[], options: WaitOptions): Promise<void> {
  const missing = new Set(strategies.map((strategy) => strategy.what));
  const deadline = {
    ms: options.ms,
    signal: options.signal,
    // Read when the deadline passes, so it names only what is still missing.
    get what() {
      return [...missing].join(' and ');
    },
  };
  await withDeadline(deadline, async (signal) => {
    const ready = Promise.all(
      strategies.map(async (strategy) => {
        await strategy.until(signal);
        missing.delete(strategy.what);
      }),
    );
    await Promise.race([ready, ...(options.failFast ?? []).map((strategy) => strategy.until(signal))]);
  });
}

/** A GET that answers 200. */
export function httpReady(url: string): WaitStrategy {
  return {
    what: `${url} to answer 200`,
    until: async (signal) => {
      for (;;) {
        const status = await fetch(url, { signal, headers: { connection: 'close' } }).then(
          async (response) => {
            await response.body?.cancel();
            return response.status;
          },
          () => 0,
        );
        signal.throwIfAborted();
        if (status === 200) return;
        await sleep(EVERY_MS, signal);
      }
    },
  };
}

/** A TCP connection that is accepted. */
export function tcpOpen(address: string): WaitStrategy {
  return {
    what: `${address} to accept a connection`,
    until: async (signal) => {
      while (!(await accepts(address, signal))) await sleep(EVERY_MS, signal);
    },
  };
}

/** Rejects as soon as the process ends, with the reason that `describe` gives. */
export function exited(child: ChildProcess, describe: () => LockstepError): WaitStrategy {
  return {
    what: 'the process to run on',
    until: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close', { signal });
      throw describe();
    },
  };
}

async function accepts(address: string, signal: AbortSignal): Promise<boolean> {
  const cut = address.lastIndexOf(':');
  const host = address.slice(0, cut).replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(address.slice(cut + 1)), signal });
  try {
    await once(socket, 'connect', { signal });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    socket.destroy();
  }
}
