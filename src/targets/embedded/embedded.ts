import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { EmbeddedOptions } from '#embedded/options.ts';
import { exited, waitForAll } from '../wait.ts';
import { type Writer, LogRing, keepLastWords, readProcess } from '../host/index.ts';
import type { Endpoints, Health, ProcessRef, Target } from '../types.ts';
import type { ReadyMessage } from './messages.ts';
import { READY_MESSAGE } from './messages.ts';

export interface EmbeddedTargetOptions {
  readonly server: EmbeddedOptions;
  readonly signal?: AbortSignal | undefined;
  readonly readyWithinMs?: number;
  /** The program; the embedded server when absent. Tests start another one. */
  readonly program?: string;
}

const PROGRAM = join(import.meta.dirname, '..', '..', 'embedded', 'main.ts');
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 3_000;
const KILL_WITHIN_MS = 3_000;

/**
 * Starts the embedded server as a child process and waits until it says that it is ready.
 *
 * The child ends by itself when its IPC channel closes, so that nothing is left behind however this process ends.
 * Errors: `target-exited` and `target-not-ready`, both with the last log lines; `interrupted`; what the child reports.
 */
export async function startEmbeddedTarget(options: EmbeddedTargetOptions): Promise<Target> {
  const child = spawn(process.execPath, [options.program ?? PROGRAM, JSON.stringify(options.server)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = new LogRing();
  child.stdout?.setEncoding('utf8').on('data', log.sink());
  child.stderr?.setEncoding('utf8').on('data', log.sink());
  child.on('error', () => {});
  const ms = options.readyWithinMs ?? READY_WITHIN_MS;
  const said: { message?: ReadyMessage } = {};
  const ready = {
    what: 'the embedded server to become ready',
    until: async (signal: AbortSignal) => {
      const [message] = (await once(child, 'message', { signal })) as [unknown];
      const parsed = READY_MESSAGE.safeParse(message);
      if (!parsed.success) throw withLog('target-not-ready', 'the embedded server sent a first message that is not the one agreed on', log);
      said.message = parsed.data;
    },
  };
  const died = exited(child, () => withLog('target-exited', `the embedded server ${describeEnd(child)} before it was ready`, log));
  try {
    await waitForAll([ready], { ms, signal: options.signal, failFast: [died] });
  } catch (thrown) {
    await endQuietly(child);
    const error = LockstepError.from(thrown);
    throw error.code === 'deadline'
      ? withLog('target-not-ready', `waited ${ms} ms for the embedded server to become ready, in vain`, log, error)
      : error;
  }
  const { message } = said;
  if (message === undefined || !message.ready) {
    await endQuietly(child);
    const error = message?.error ?? { code: 'target-not-ready', message: 'no message', hint: undefined };
    throw new LockstepError(error.code, error.message.replace(`[${error.code}] `, ''), {
      context: { log: log.tail() || undefined },
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
  return new EmbeddedTarget(child, log, message);
}

class EmbeddedTarget implements Target {
  readonly kind = 'embedded';
  readonly endpoints: Endpoints;
  readonly identity: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;
  readonly #log: LogRing;
  readonly #words: Writer;
  readonly #startTicks: number | undefined;
  #ending: Promise<void> | undefined;

  constructor(child: ChildProcess, log: LogRing, message: Extract<ReadyMessage, { ready: true }>) {
    this.#child = child;
    this.#log = log;
    const path = join(tmpdir(), `lockstep-${process.pid}-${randomBytes(4).toString('hex')}.json`);
    // Only at the end: until then a killed runner leaves no file behind.
    this.#words = keepLastWords(child, { path, log, ended: () => describeEnd(child), always: false });
    this.#startTicks = child.pid === undefined ? undefined : readProcess(child.pid)?.startTicks;
    this.endpoints = {
      grpc: message.endpoints.grpc,
      http: message.endpoints.http,
      metrics: message.endpoints.metrics,
      openai: message.endpoints.openai,
    };
    this.identity = message.identity;
  }

  async processes(): Promise<readonly ProcessRef[]> {
    const { pid } = this.#child;
    if (pid === undefined) return [];
    return [{ name: 'the embedded server', pid, startTicks: this.#startTicks, lastWords: this.#words.path }];
  }

  async health(): Promise<Health> {
    if (isRunning(this.#child)) return { alive: true, detail: '' };
    return {
      alive: false,
      detail: [`the embedded server ${describeEnd(this.#child)}`, this.#log.tail()].filter((line) => line !== '').join('\n'),
    };
  }

  logTail(): readonly string[] {
    return this.#log.lines();
  }

  stop(): Promise<void> {
    this.#ending ??= end(this.#child).finally(() => this.#words.remove());
    return this.#ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Closes the channel, which ends the child; SIGKILL when it does not listen. Errors: `deadline`. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || !isRunning(child)) return;
  const gone = once(child, 'exit');
  if (child.connected) child.disconnect();
  try {
    await withDeadline({ ms: STOP_WITHIN_MS, what: 'the embedded server to end' }, () => gone);
  } catch {
    child.kill('SIGKILL');
    await withDeadline({ ms: KILL_WITHIN_MS, what: 'the killed embedded server to end' }, () => gone);
  }
}

/** For a start that failed: why it failed is what the reader needs. */
async function endQuietly(child: ChildProcess): Promise<void> {
  await end(child).catch(() => undefined);
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function describeEnd(child: ChildProcess): string {
  if (child.pid === undefined) return 'could not be started';
  return child.signalCode === null ? `exited with code ${child.exitCode}` : `was killed by ${child.signalCode}`;
}

function withLog(code: string, text: string, log: LogRing, cause?: unknown): LockstepError {
  return new LockstepError(code, text, {
    context: { log: log.tail() || undefined },
    hint: 'Read the last log lines above; `lockstep doctor` looks at ports and checkpoint.',
    cause,
  });
}
