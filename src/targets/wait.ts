/** Wait strategies: small objects that each wait for one thing; all of them run under one deadline. */
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { sleep, withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { type Access, grpcClient, hostPort, httpBase, HttpChannel } from '#wire/clients/index.ts';

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
/** A server that starts can take a connection and forget it. */
const ATTEMPT_MS = 5_000;

/** Waits for all of them. Errors: `deadline` (names what has not come), `interrupted`, and what a strategy rejects with. */
export async function waitForAll(strategies: readonly WaitStrategy[], options: WaitOptions): Promise<void> {
  const missing = new Set(strategies);
  const deadline = {
    ms: options.ms,
    signal: options.signal,
    // Read when the deadline passes, so it names only what is still missing.
    get what() {
      return [...missing].map((strategy) => strategy.what).join(' and ');
    },
  };
  await withDeadline(deadline, async (signal) => {
    const ready = Promise.all(
      strategies.map(async (strategy) => {
        await strategy.until(signal);
        missing.delete(strategy);
      }),
    );
    await Promise.race([ready, ...(options.failFast ?? []).map((strategy) => strategy.until(signal))]);
  });
}

/** A GET of this path that answers 200. What was answered in its place, or why nothing was, is said at the deadline. */
export function httpReady(address: string, path: string, access?: Access): WaitStrategy {
  let last = '';
  return {
    get what() {
      return `${httpBase(address)}${path} to answer 200${last === '' ? '' : ` (last: ${last})`}`;
    },
    until: async (signal) => {
      await using channel = new HttpChannel(address, access);
      for (;;) {
        last = await channel.answer({ method: 'GET', path }, { signal, deadlineMs: ATTEMPT_MS }).then(
          ({ status }) => `${status}`,
          (error: unknown) => reasonOf(error),
        );
        signal.throwIfAborted();
        if (last === '200') return;
        await sleep(EVERY_MS, signal);
      }
    },
  };
}

/** ServerLive over gRPC; says at the deadline what came in place of a yes, since TLS and tokens go wrong here first. */
export function grpcLive(address: string, access?: Access): WaitStrategy {
  let last = '';
  return {
    get what() {
      return `${address} to answer gRPC${last === '' ? '' : ` (last: ${last})`}`;
    },
    until: async (signal) => {
      await using client = grpcClient(address, access);
      for (;;) {
        last = await client.live({ signal, deadlineMs: ATTEMPT_MS }).then(
          (live) => (live ? '' : 'not live'),
          (error: unknown) => reasonOf(error),
        );
        signal.throwIfAborted();
        if (last === '') return;
        await sleep(EVERY_MS, signal);
      }
    },
  };
}

/** The cause in few words: a code of the network, or the server's own. */
function reasonOf(thrown: unknown): string {
  const { context, message } = LockstepError.from(thrown);
  return String(context['cause'] ?? (context['status'] === undefined ? message : `${context['status']}: ${context['details']}`));
}

/** A TCP connection that is accepted; with or without a scheme before the address. */
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
  const where = hostPort(address);
  const cut = where.lastIndexOf(':');
  const host = where.slice(0, cut).replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(where.slice(cut + 1)), signal });
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
