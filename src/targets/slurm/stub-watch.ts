import { sleep } from '#core/deadline/index.ts';
import { modelsWithoutStub, repositoryIndex } from '../tritonserver/index.ts';
import type { JobFolder } from './job-folder.ts';

/** rank.sh looks every half second, and a network file system may be a moment late. */
const SETTLE_MS = 1_500;
const ASK_WITHIN_MS = 3_000;

export interface StubWatchOptions {
  readonly folder: JobFolder;
  readonly repository: string;
  readonly http: string;
  /** Whether the job goes on: what it takes along says nothing of itself. */
  readonly runs: () => boolean;
  /** Told once, which models lost the process that answers for them. */
  readonly lost: (models: readonly string[]) => void;
}

/** Looks after the Python stubs of a job's first rank: a server whose stub died goes on calling the model READY. */
export class StubWatch implements Disposable {
  readonly #options: StubWatchOptions;
  readonly #abort = new AbortController();

  constructor(options: StubWatchOptions) {
    this.#options = options;
    void this.#follow().catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#abort.abort();
  }

  /** Asks the server now what it thinks of its models. */
  async look(): Promise<void> {
    const first = await this.#lost();
    if (first.length === 0) return;
    // A model that was loaded this moment has a stub that rank.sh has not seen yet.
    await sleep(SETTLE_MS, this.#abort.signal);
    const second = (await this.#lost()).filter((name) => first.includes(name));
    if (second.length > 0) this.#options.lost(second);
  }

  /** Whenever a stub goes, the server is asked. */
  async #follow(): Promise<void> {
    const { folder, runs } = this.#options;
    let before = folder.stubModels();
    while (runs()) {
      await sleep(SETTLE_MS, this.#abort.signal);
      const now = folder.stubModels();
      if (before !== undefined && [...before].some((model) => now?.has(model) !== true)) await this.look();
      before = now;
    }
  }

  async #lost(): Promise<readonly string[]> {
    const { folder, repository, http } = this.#options;
    const stubs = folder.stubModels();
    if (stubs === undefined || this.#abort.signal.aborted) return [];
    const index = await repositoryIndex(http, ASK_WITHIN_MS).catch(() => []);
    return modelsWithoutStub(repository, index, stubs);
  }
}
