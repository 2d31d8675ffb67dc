import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { nowNs } from '#core/clock/index.ts';
import { sleep, withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import {
  findLoadFailure,
  findPortTaken,
  loadFailed,
  modelsWithoutStub,
  parseEnv,
  repositoryIndex,
  waitUntilAnswers,
} from '../tritonserver/index.ts';
import { lastWordsFile, thisOwner } from '../host/index.ts';
import { tcpOpen, waitForAll } from '../wait.ts';
import type { TritonLayout } from '../process/index.ts';
import type { Endpoints, Health, ProcessRef, Target } from '../types.ts';
import { registerForCleanup } from '../watchdog/index.ts';
import { cancelJob, jobWordsPath, sweep } from './cancel.ts';
import { identify } from './identity.ts';
import { JobFolder, type NodeFacts } from './job-folder.ts';
import { FILES, type JobNames, jobScript, sbatchArguments } from './job-script.ts';
import { nodeAddress } from './job.ts';
import { type Launch, planLaunch } from './launch.ts';
import { neverStarts, pendingText } from './pending.ts';
import type { SlurmSettings } from './settings.ts';
import { jobNames, layFolder, maySubmit, submit, submitEnvironment } from './submit.ts';
import { JobWatch } from './watch.ts';

/** Engines of many gigabytes take minutes to load; a server that dies is not waited for. */
const READY_WITHIN_MS = 600_000;
/** What listens on its node and cannot be connected to from here for so long is behind something. */
const REACHED_WITHIN_MS = 10_000;
const HEALTH_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 100;
/** rank.sh looks every half second, and a network file system may be a moment late. */
const STUBS_SETTLE_MS = 1_500;

export interface SlurmServerOptions {
  readonly settings: SlurmSettings;
  /** The server of the nodes; undefined in a container. */
  readonly layout: TritonLayout | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly readyWithinMs?: number;
  /** Default: `settings.queueMinutes`. */
  readonly queueMs?: number;
  /** Told what takes long. */
  readonly notice: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Submits a job that runs tritonserver, and waits until server, models and one answer are there.
 *
 * Errors: of Slurm's programs (slurm-command.ts), `job-never-starts`, `job-ended`, `model-load-failed`, `port-taken`, `node-unreachable`,
 * `target-not-ready`, `canary-refused`, `interrupted`, those of `planLaunch`. The job is cancelled before the error is thrown.
 */
export async function startSlurmServer(options: SlurmServerOptions): Promise<SlurmServer> {
  const { settings, notice, signal, env } = options;
  const launch = planLaunch(settings, options.layout);
  const given = parseEnv(settings.env, env);
  const swept = await sweep(settings.jobDir);
  if (swept > 0) notice(`cancelled ${swept === 1 ? 'a job that a killed run' : `${swept} jobs that killed runs`} left`);
  const run = `${process.pid}-${randomBytes(6).toString('hex')}`;
  const names = jobNames(settings, run, thisOwner());
  const script = jobScript(launch, names);
  const registration = registerForCleanup({ jobs: { name: names.name }, dirs: [names.folder], shmPrefixes: [`lockstep_${run}`] });
  let id: string;
  try {
    layFolder(names, script);
    id = await submit(sbatchArguments(settings, launch, names), submitEnvironment(env, given), signal, names.name);
  } catch (thrown) {
    rmSync(names.folder, { recursive: true, force: true });
    // Slurm may have the job all the same: then it is the watchdog's.
    if (!maySubmit(thrown)) registration.release();
    throw thrown;
  }
  notice(`job ${id} is submitted`);
  const server = new SlurmServer({ options, launch, names, run, id, released: () => registration.release() });
  try {
    await server.start();
    return server;
  } catch (thrown) {
    // Why it did not start is what the reader needs; a job that could not be cancelled is left to the watchdog.
    await server.stop().catch(() => undefined);
    throw options.signal?.aborted === true ? interrupted(thrown) : thrown;
  }
}

function interrupted(thrown: unknown): LockstepError {
  const error = LockstepError.from(thrown);
  return error.code === 'interrupted' ? error : new LockstepError('interrupted', 'stopped while the job was starting', { cause: thrown });
}

interface Plan {
  readonly options: SlurmServerOptions;
  readonly launch: Launch;
  readonly names: JobNames;
  readonly run: string;
  readonly id: string;
  /** The job holds no node any more. */
  readonly released: () => void;
}

/** A tritonserver in a job of this run. */
export class SlurmServer implements Target {
  readonly kind = 'slurm';
  /** Slurm's number of the job. */
  readonly id: string;
  /** Part of the names of the job, of its folder and of what is kept of it here. */
  readonly run: string;
  readonly #plan: Plan;
  readonly #folder: JobFolder;
  readonly #watch: JobWatch;
  readonly #words: ReturnType<typeof lastWordsFile>;
  readonly #abort = new AbortController();
  #endpoints: Endpoints | undefined;
  #identity: Readonly<Record<string, string>> = {};
  #node = '';
  #lost: string | undefined;
  #stopping: Promise<void> | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.id = plan.id;
    this.run = plan.run;
    this.#folder = new JobFolder(plan.names.folder);
    this.#words = lastWordsFile(jobWordsPath(plan.names.name), () => ({ ended: this.#ended(), log: this.#watch.log.tail() }));
    this.#watch = new JobWatch(plan.id, this.#folder, () => this.#words.changed());
  }

  get endpoints(): Endpoints {
    if (this.#endpoints === undefined) throw new LockstepError('closed', 'the job has not started');
    return this.#endpoints;
  }

  get identity(): Readonly<Record<string, string>> {
    return this.#identity;
  }

  async start(): Promise<void> {
    await this.#untilStarted();
    const beganNs = nowNs();
    const ms = this.#plan.options.readyWithinMs ?? READY_WITHIN_MS;
    const facts = await this.#untilPlaced(ms);
    const host = await nodeAddress(facts.node, this.#plan.options.signal);
    const at = (port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.#node = facts.node;
    this.#endpoints = { http: at(facts.http), grpc: at(facts.grpc), metrics: at(facts.metrics), openai: undefined };
    await this.#untilReached(ms - (nowNs() - beganNs) / 1e6);
    await waitUntilAnswers(this.endpoints.http, {
      ms: Math.max(1, ms - (nowNs() - beganNs) / 1e6),
      signal: this.#plan.options.signal,
      log: () => this.#watch.log.tail(),
      alive: () => this.#refuseEnded(),
    });
    const { settings, layout } = this.#plan.options;
    this.#identity = await identify({ settings, layout, facts, ranks: this.#plan.launch.ranks, http: this.endpoints.http });
    void this.#watchStubs().catch(() => undefined);
  }

  async processes(): Promise<readonly ProcessRef[]> {
    this.#words.changed();
    return [{ name: this.#called(), pid: undefined, startTicks: undefined, lastWords: this.#words.path }];
  }

  /** Looks at the job, then at the server, then at the Python stubs of the first rank. */
  async health(): Promise<Health> {
    const ended = this.#ended();
    if (ended !== undefined) return this.#dead(`${this.#called()} ${ended}`);
    try {
      await repositoryIndex(this.endpoints.http, HEALTH_WITHIN_MS);
    } catch (thrown) {
      const end = this.#ended();
      if (end !== undefined) return this.#dead(`${this.#called()} ${end}`);
      return {
        ...this.#dead(`${this.#called()} runs and its server does not answer: ${LockstepError.from(thrown).message}`),
        ending: true,
      };
    }
    await this.#lookAtStubs();
    return this.#lost === undefined ? { alive: true, detail: '' } : this.#dead(`${this.#called()} ${this.#lost}`);
  }

  logTail(): readonly string[] {
    return this.#watch.log.lines();
  }

  /** Errors: `job-left` where Slurm does not answer or the job does not end; the next run cancels it then. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    this.#abort.abort();
    try {
      await cancelJob(this.id);
    } catch (thrown) {
      throw new LockstepError('job-left', `the job ${this.id} could not be cancelled: ${LockstepError.from(thrown).message}`, {
        hint: `The next run with target slurm cancels it, or: scancel ${this.id}.`,
        cause: thrown,
      });
    } finally {
      await this.#watch[Symbol.asyncDispose]();
      this.#words.remove();
    }
    rmSync(this.#plan.names.folder, { recursive: true, force: true, maxRetries: 3 });
    this.#plan.released();
  }

  #called(): string {
    return `job ${this.id}${this.#node === '' ? '' : ` on ${this.#node}`}`;
  }

  #ended(): string | undefined {
    return this.#watch.ending?.text ?? this.#lost;
  }

  #dead(detail: string): Health {
    return {
      alive: false,
      detail: [detail, this.#watch.ending?.hint ?? '', this.#watch.log.tail()].filter((line) => line !== '').join('\n'),
    };
  }

  /** Waits in the queue, and says why the job is there. */
  async #untilStarted(): Promise<void> {
    const { options } = this.#plan;
    const { notice, signal, settings } = options;
    const ms = options.queueMs ?? settings.queueMinutes * 60_000;
    const watch = this.#watch;
    let told = '';
    const deadline = {
      ms,
      signal,
      // Read when the deadline passes.
      get what() {
        return `the job to start: ${pendingText(watch.job.state, watch.job.reason)}`;
      },
    };
    await withDeadline(deadline, async (inner) => {
      for (;;) {
        this.#refuseEnded();
        const { state, reason } = watch.job;
        if (!['PENDING', 'CONFIGURING'].includes(state)) return;
        const hint = neverStarts(reason);
        if (hint !== undefined) {
          throw new LockstepError('job-never-starts', `job ${this.id} will not start by waiting: ${pendingText(state, reason)}`, { hint });
        }
        const text = pendingText(state, reason);
        if (text !== told && reason !== 'None') notice(`job ${this.id} is ${text}`);
        told = text;
        await sleep(LOOK_EVERY_MS, inner);
      }
    }).catch((thrown: unknown) => {
      const error = LockstepError.from(thrown);
      if (error.code !== 'deadline') throw error;
      throw new LockstepError('target-not-ready', error.message.replace(/^\[deadline\] /, ''), {
        hint: `\`squeue --start --job\` tells when Slurm means to start it; wait longer with --queue-minutes, or ask for less.`,
        cause: error,
      });
    });
  }

  /** The job runs; rank.sh says where. */
  async #untilPlaced(ms: number): Promise<NodeFacts> {
    const what = `rank 0 of job ${this.id} to say where it listens`;
    return this.#until(ms, what, () => {
      const facts = this.#watch.files.has('node') ? this.#folder.node() : undefined;
      return facts;
    });
  }

  /** Models may load for minutes before it listens; from then on it must be reached from here. */
  async #untilReached(ms: number): Promise<void> {
    const { http } = this.endpoints;
    await this.#until(ms, `the server of ${this.#called()} to listen`, () => (this.#watch.files.has('listening') ? true : undefined));
    try {
      await waitForAll([tcpOpen(http)], { ms: REACHED_WITHIN_MS, signal: this.#plan.options.signal });
    } catch (thrown) {
      const error = LockstepError.from(thrown);
      this.#refuseEnded();
      if (error.code !== 'deadline') throw error;
      throw new LockstepError('node-unreachable', `the server listens on its node, and ${http} cannot be connected to from here`, {
        context: { why: await reasonOf(http) },
        hint: 'Run this where the nodes of the cluster are reached, such as a login node; a firewall in between must let ports 20000 to 31999 pass.',
        cause: error,
      });
    }
  }

  async #until<T>(ms: number, what: string, look: () => T | undefined): Promise<T> {
    try {
      return await withDeadline({ ms, what, signal: this.#plan.options.signal }, async (signal) => {
        for (;;) {
          const found = look();
          if (found !== undefined) return found;
          this.#refuseEnded();
          await sleep(LOOK_EVERY_MS, signal);
        }
      });
    } catch (thrown) {
      const error = LockstepError.from(thrown);
      if (error.code !== 'deadline') throw error;
      throw new LockstepError('target-not-ready', error.message.replace(/^\[deadline\] /, ''), {
        context: { log: this.#watch.log.tail() },
        hint: this.#watch.files.has(FILES.log)
          ? 'Read the last log lines above.'
          : `Look whether the nodes see ${this.#plan.names.folder}; --job-dir names a folder that they share with this host.`,
        cause: error,
      });
    }
  }

  /** Why it ended before it was ready. */
  #refuseEnded(): void {
    const { ending, log, files } = this.#watch;
    if (ending === undefined) return;
    const failure = findLoadFailure(log.lines());
    if (failure !== undefined) throw loadFailed(failure.model, failure.reason, log.tail());
    const port = findPortTaken(log.lines());
    if (port !== undefined) {
      throw new LockstepError('port-taken', `another program of ${this.#called()} took a port first: ${port}`, {
        hint: 'Start it again: ports are drawn anew.',
      });
    }
    throw new LockstepError('job-ended', `${this.#called()} ${ending.text}, before the server was ready`, {
      context: { log: log.tail() },
      hint: files.has(FILES.log)
        ? ending.hint
        : `It left no log in ${this.#plan.names.folder}: --job-dir must name a folder that this host and the nodes share.`,
    });
  }

  /** A server whose stub died goes on calling the model READY: whenever a stub goes, the server is asked what it thinks. */
  async #watchStubs(): Promise<void> {
    const { signal } = this.#abort;
    let before = this.#folder.stubModels();
    while (this.#ended() === undefined) {
      await sleep(STUBS_SETTLE_MS, signal);
      const now = this.#folder.stubModels();
      if (before !== undefined && [...before].some((model) => now?.has(model) !== true)) await this.#lookAtStubs();
      before = now;
    }
  }

  async #lookAtStubs(): Promise<void> {
    const lost = async () => {
      const stubs = this.#folder.stubModels();
      if (stubs === undefined || this.#stopping !== undefined) return [];
      const index = await repositoryIndex(this.endpoints.http, HEALTH_WITHIN_MS).catch(() => []);
      return modelsWithoutStub(this.#plan.options.settings.repository, index, stubs);
    };
    const first = await lost();
    if (first.length === 0) return;
    // A model that was loaded this moment has a stub that rank.sh has not seen yet.
    await sleep(STUBS_SETTLE_MS, this.#abort.signal);
    const second = (await lost()).filter((name) => first.includes(name));
    if (second.length === 0) return;
    this.#lost = `lost the Python process of ${second.join(', ')}, while the server still calls the model READY`;
    this.#words.changed();
  }
}

/** Why a connection is not made: a name that nobody knows, a refusal, silence. */
async function reasonOf(address: string): Promise<string> {
  const cut = address.lastIndexOf(':');
  const socket = connect({
    host: address.slice(0, cut).replace(/^\[|\]$/g, ''),
    port: Number(address.slice(cut + 1)),
    timeout: HEALTH_WITHIN_MS,
  });
  return new Promise<string>((resolve) => {
    socket.once('connect', () => resolve('it answers now'));
    socket.once('timeout', () => resolve('no answer: packets are dropped on the way'));
    socket.once('error', (error) => resolve(error.message));
  }).finally(() => socket.destroy());
}
