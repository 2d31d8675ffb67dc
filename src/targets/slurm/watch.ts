import { sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { LogRing } from '../host/index.ts';
import { type Ending, describeEnd } from './ending.ts';
import type { JobFolder } from './job-folder.ts';
import { type Job, isLive, readJob } from './job.ts';

/** The shared folder is looked at often, the controller, which serves a whole cluster, seldom. */
const FOLDER_EVERY_MS = 200;
const ASK_FIRST_MS = 250;
const ASK_LAST_MS = 10_000;
/** Between the last line of a log and Slurm's word lies the end of the job's steps. */
const SETTLE_MS = 200;

/** Follows one job: its log, what rank.sh says, and what Slurm says of it. */
export class JobWatch implements AsyncDisposable {
  readonly log = new LogRing();
  readonly #id: string;
  readonly #folder: JobFolder;
  readonly #changed: () => void;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  #job: Job = { state: 'PENDING', reason: 'None', exitCode: '', node: undefined };
  #ending: Ending | undefined;
  #files: ReadonlySet<string> = new Set();
  #askEveryMs = ASK_FIRST_MS;
  #askAtNs = 0;

  /** `changed` is called after each burst of output and at the end. */
  constructor(id: string, folder: JobFolder, changed: () => void) {
    this.#id = id;
    this.#folder = folder;
    this.#changed = changed;
    this.#running = this.#follow().catch(() => undefined);
  }

  /** As Slurm said last. */
  get job(): Job {
    return this.#job;
  }

  /** How it ended; undefined while it is pending or runs. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  /** Files in the job's folder. */
  get files(): ReadonlySet<string> {
    return this.#files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort;
    const sink = this.log.sink();
    while (!signal.aborted && this.#ending === undefined) {
      this.#files = this.#folder.names();
      if (this.#folder.followLog(sink)) this.#changed();
      // A server that ended is asked after at once.
      if (this.#files.has('ended') || nowNs() >= this.#askAtNs) await this.#ask(signal);
      await sleep(FOLDER_EVERY_MS, signal);
    }
    while (this.#folder.followLog(sink));
    this.#changed();
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const before = this.#job.state;
    try {
      this.#job = await readJob(this.#id, signal);
    } catch (thrown) {
      // A controller that restarts answers later; a job's end is not missed by it.
      if (LockstepError.from(thrown).code === 'slurm-missing') throw thrown;
    }
    this.#askEveryMs = before === this.#job.state ? Math.min(ASK_LAST_MS, this.#askEveryMs * 1.4) : ASK_FIRST_MS;
    this.#askAtNs = nowNs() + this.#askEveryMs * 1e6;
    if (isLive(this.#job)) return;
    await sleep(SETTLE_MS, signal);
    this.#ending = describeEnd(this.#job, this.#folder.ended());
  }
}
