import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pollUntil, withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';
import type { Endpoints, Health, ProcessRef, Target } from '../types.ts';
import {
  type ProcessRow,
  type Writer,
  LogRing,
  findDescendants,
  findLiving,
  freePorts,
  isLiving,
  keepLastWords,
  killRow,
  lastWordsPath,
  readProcess,
} from '../host/index.ts';
import {
  type ModelState,
  askHttp,
  findPortTaken,
  modelFolders,
  modelOfStub,
  modelsWithoutStub,
  repositoryIndex,
} from '../tritonserver/index.ts';
import { identify } from './identity.ts';
import { layOutTriton, type TritonLayout } from './layout.ts';
import { serverCommand, serverEnvironment } from './launch.ts';

const SHARED_MEMORY = '/dev/shm';
/** The server's own grace for requests in flight is no hard bound (observed). */
const STOP_WITHIN_MS = 8_000;
const KILL_WITHIN_MS = 3_000;
const HEALTH_WITHIN_MS = 3_000;

export interface TritonServerOptions {
  /** Folder with one folder per model. */
  readonly repository: string;
  /** Models to load, default all of the repository. Others can be loaded later: control mode is explicit. */
  readonly models?: readonly string[];
  readonly readyWithinMs?: number;
  /** Ranks, started through mpirun when there are several; default 1. */
  readonly worldSize?: number;
  /** Further arguments of tritonserver. */
  readonly args?: readonly string[];
  readonly layout?: TritonLayout;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts a real tritonserver on free loopback ports and waits until it is ready.
 *
 * Errors: those of the layout; `target-exited` and `target-not-ready`, both with the last log lines; `interrupted`. Whatever
 * was started is stopped before the error is thrown.
 */
export async function startTritonServer(options: TritonServerOptions): Promise<TritonProcess> {
  const layout = options.layout ?? (await layOutTriton({ signal: options.signal }));
  const models = options.models ?? modelFolders(options.repository);
  for (let attempt = 1; ; attempt += 1) {
    const server = new TritonProcess(options, layout, models, await freePorts(3));
    try {
      await server.waitUntilReady();
      return server;
    } catch (thrown) {
      // Why it did not start is what the reader needs; what cannot be stopped is left to the watchdog.
      const stopped = await server.stop().then(
        () => true,
        () => false,
      );
      // Another program may have taken a port between our look and the server's bind.
      const portTaken = findPortTaken(server.logTail()) !== undefined;
      if (!stopped || !portTaken || attempt === 3 || options.signal?.aborted) throw thrown;
    }
  }
}

/** A running tritonserver with its Python stubs. */
export class TritonProcess implements Target {
  readonly kind = 'process';
  readonly endpoints: Endpoints;
  readonly #layout: TritonLayout;
  readonly #options: TritonServerOptions;
  readonly #child: ChildProcess;
  readonly #log = new LogRing();
  /** Names of this server's shared memory begin with it, and so it stands on the command line of each stub. */
  readonly #prefix = `lockstep_${process.pid}_${randomBytes(4).toString('hex')}_`;
  readonly #exited: Promise<unknown>;
  readonly #words: Writer;
  #family: readonly ProcessRow[] = [];
  #version = UNKNOWN;
  #stopping: Promise<void> | undefined;
  readonly #onParentExit = () => this.#killNow();

  constructor(options: TritonServerOptions, layout: TritonLayout, models: readonly string[], ports: readonly number[]) {
    const [http, grpc, metrics] = ports;
    this.#options = options;
    this.endpoints = { http: `127.0.0.1:${http}`, grpc: `127.0.0.1:${grpc}`, metrics: `127.0.0.1:${metrics}`, openai: undefined };
    this.#layout = layout;
    const [program, ...args] = serverCommand({
      options,
      layout,
      models,
      listen: { http: http!, grpc: grpc!, metrics: metrics! },
      prefix: this.#prefix,
    });
    this.#child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'], env: serverEnvironment(layout) });
    this.#child.stdout?.setEncoding('utf8').on('data', this.#log.sink());
    this.#child.stderr?.setEncoding('utf8').on('data', this.#log.sink());
    this.#words = keepLastWords(this.#child, {
      path: lastWordsPath(this.#prefix),
      log: this.#log,
      ended: () => this.#ending(),
      always: true,
    });
    // A spawn that fails emits `error` and no `exit`.
    this.#exited = Promise.race([once(this.#child, 'exit'), once(this.#child, 'error')]).catch(() => undefined);
    process.once('exit', this.#onParentExit);
  }

  get identity(): Readonly<Record<string, string>> {
    return identify(this.#layout, this.#options.repository, this.#version);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Live Python stubs, model name to process id. A tool for tests that kill one. */
  stubs(): ReadonlyMap<string, number> {
    return new Map(this.#stubRows().map((row) => [modelOfStub(row), row.pid]));
  }

  #stubRows(): readonly ProcessRow[] {
    return findLiving(this.#prefix).filter((row) => row.pid !== this.pid);
  }

  async processes(): Promise<readonly ProcessRef[]> {
    const { pid } = this;
    const lastWords = this.#words.path;
    const server = pid === undefined ? [] : [{ name: 'tritonserver', pid, startTicks: readProcess(pid)?.startTicks, lastWords }];
    const stubs = this.#stubRows().map((row) => ({ name: `Python stub of ${modelOfStub(row)}`, pid: row.pid, startTicks: row.startTicks }));
    return [...server, ...stubs];
  }

  logTail(): readonly string[] {
    return this.#log.lines();
  }

  /** Errors: `target-exited`, `target-not-ready`, `interrupted`. */
  async waitUntilReady(): Promise<void> {
    const ms = this.#options.readyWithinMs ?? 60_000;
    const what = `tritonserver at ${this.endpoints.http} to become ready`;
    try {
      await pollUntil({ ms, what, everyMs: 25, signal: this.#options.signal }, async (signal) => {
        const ended = this.#ending();
        if (ended !== undefined) throw this.#error('target-exited', `tritonserver ${ended} before it was ready`);
        if ((await this.#get('/v2/health/ready', signal))?.status !== 200) return undefined;
        const metadata = await this.#get('/v2', signal);
        if (metadata === undefined) return undefined;
        // Another program may listen on the port, if only the metrics of another server, which say 200 to everything.
        const version = versionIn(metadata.body);
        if (version === undefined) return undefined;
        this.#version = version;
        return true;
      });
    } catch (thrown) {
      const error = LockstepError.from(thrown);
      if (error.code !== 'deadline') throw error;
      throw this.#error('target-not-ready', `waited ${ms} ms for ${what}, in vain`, error);
    }
    this.#family = findDescendants(this.#child.pid ?? -1);
  }

  /**
   * Looks at the server process and at each Python stub. A server whose stub died stays READY for ever (observed), so a
   * READY Python model without a living stub is the finding here.
   */
  async health(): Promise<Health> {
    const ended = this.#ending();
    if (ended !== undefined) return dead(`tritonserver ${ended}\n${this.#log.tail()}`);
    let index: readonly ModelState[];
    try {
      index = await repositoryIndex(this.endpoints.http, HEALTH_WITHIN_MS);
    } catch (thrown) {
      const end = this.#ending();
      if (end !== undefined) return dead(end);
      return { ...dead(`tritonserver runs but does not answer: ${LockstepError.from(thrown).message}\n${this.#log.tail()}`), ending: true };
    }
    this.#family = findDescendants(this.#child.pid ?? -1);
    const lost = modelsWithoutStub(this.#options.repository, index, new Set(this.stubs().keys()));
    if (lost.length === 0) return { alive: true, detail: '' };
    return dead(`the Python process of ${lost.join(', ')} is dead while the server still calls the model READY\n${this.#log.tail()}`);
  }

  /** SIGTERM, then SIGKILL after a bound; then stubs and shared memory that the server left behind. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    if (this.#ending() === undefined) {
      this.#family = findDescendants(this.#child.pid ?? -1);
      this.#child.kill('SIGTERM');
      if (!(await this.#exitsWithin(STOP_WITHIN_MS))) {
        this.#child.kill('SIGKILL');
        await this.#exitsWithin(KILL_WITHIN_MS);
      }
    }
    this.#killNow();
    const leftovers = () => this.#family.some(isLiving) || findLiving(this.#prefix).length > 0;
    await pollUntil({ ms: KILL_WITHIN_MS, what: 'the last processes of tritonserver to end', everyMs: 10 }, () =>
      leftovers() ? undefined : true,
    );
    process.removeListener('exit', this.#onParentExit);
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    try {
      await withDeadline({ ms, what: 'tritonserver to end' }, () => this.#exited);
      return true;
    } catch {
      return false;
    }
  }

  /** Synchronous, because it also runs while this process exits. */
  #killNow(): void {
    if (this.#ending() === undefined) this.#child.kill('SIGKILL');
    this.#words.remove();
    for (const row of [...this.#family, ...findLiving(this.#prefix)]) killRow(row);
    if (!existsSync(SHARED_MEMORY)) return;
    for (const name of readdirSync(SHARED_MEMORY)) if (name.startsWith(this.#prefix)) rmSync(join(SHARED_MEMORY, name), { force: true });
  }

  /** How the server ended, or undefined while it runs. */
  #ending(): string | undefined {
    const { exitCode, signalCode, pid } = this.#child;
    if (pid === undefined) return 'could not be started';
    if (signalCode !== null) return `was killed by ${signalCode}`;
    return exitCode === null ? undefined : `exited with code ${exitCode}`;
  }

  async #get(path: string, signal: AbortSignal): Promise<Awaited<ReturnType<typeof askHttp>> | undefined> {
    try {
      return await askHttp(`http://${this.endpoints.http}${path}`, 'GET', signal);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return undefined;
    }
  }

  #error(code: string, text: string, cause?: unknown): LockstepError {
    return new LockstepError(code, text, {
      context: { log: this.#log.tail() },
      hint: 'Read the last log lines above; a model that fails to load stops the server.',
      cause,
    });
  }
}

function dead(detail: string): Health {
  return { alive: false, detail };
}

function versionIn(metadata: string): string | undefined {
  try {
    return (JSON.parse(metadata) as { readonly version?: string }).version ?? UNKNOWN;
  } catch {
    return undefined;
  }
}
