import { rmSync } from 'node:fs';
import { nowNs } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { lastWordsFile } from '../host/index.ts';
import type { TritonLayout } from '../process/index.ts';
import { repositoryIndex, waitUntilAnswers } from '../tritonserver/index.ts';
import type { Endpoints, Health, ProcessRef, Target } from '../types.ts';
import { jobCalled, refuseEnded, untilReached, untilStarted } from './arrival.ts';
import { cancelJob, jobWordsPath } from './cancel.ts';
import { identify } from './identity.ts';
import { JobFolder } from './job-folder.ts';
import type { JobNames } from './job-script.ts';
import type { Launch } from './launch.ts';
import type { SlurmSettings } from './settings.ts';
import { StubWatch } from './stub-watch.ts';
import { JobWatch } from './watch.ts';

/** Engines of many gigabytes take minutes to load; a server that dies is not waited for. */
const READY_WITHIN_MS = 600_000;
const HEALTH_WITHIN_MS = 3_000;

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
  #stubs: StubWatch | undefined;
  #endpoints: Endpoints | undefined;
  #identity: Readonly<Record<string, string>> = {};
  #node: string | undefined;
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
    const { options, id } = this.#plan;
    const { settings, layout, signal } = options;
    const job = { id, folder: this.#folder, watch: this.#watch, signal };
    await untilStarted(job, { ms: options.queueMs ?? settings.queueMinutes * 60_000, notice: options.notice });
    const beganNs = nowNs();
    const ms = options.readyWithinMs ?? READY_WITHIN_MS;
    const { facts, endpoints } = await untilReached(job, ms);
    this.#node = facts.node;
    this.#endpoints = endpoints;
    await waitUntilAnswers(endpoints.http, {
      ms: Math.max(1, ms - (nowNs() - beganNs) / 1e6),
      signal,
      log: () => this.#watch.log.tail(),
      alive: () => refuseEnded({ ...job, node: facts.node }),
    });
    this.#identity = await identify({ settings, layout, facts, ranks: this.#plan.launch.ranks, http: endpoints.http });
    this.#stubs = new StubWatch({
      folder: this.#folder,
      repository: settings.repository,
      http: endpoints.http,
      runs: () => this.#ended() === undefined,
      lost: (models) => {
        this.#lost = `lost the Python process of ${models.join(', ')}, while the server still calls the model READY`;
        this.#words.changed();
      },
    });
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
    await this.#stubs?.look();
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
    this.#stubs?.[Symbol.dispose]();
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
    return jobCalled(this.id, this.#node);
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
}
