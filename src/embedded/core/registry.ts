import { nowNs } from '#core/clock/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { LoadedModel } from './loaded-model.ts';
import { listModels, readModel, repositoryStamp, type RepositoryModel } from './repository.ts';
import type { Exec, ModelFactory } from './model.ts';
import { StatisticsRecorder } from './statistics.ts';
import { CoreError, type ModelIndexEntry } from './types.ts';

interface Entry {
  /** Whether clients want it served: false after an unload. */
  wanted: boolean;
  reason: string;
  readonly versions: Map<number, LoadedModel>;
  /** Versions that were unloaded while requests were running on them. */
  readonly leaving: Set<LoadedModel>;
  seenVersions: readonly number[];
  /** What was loaded last: a load without new content changes nothing. */
  content: string;
}

export interface RegistryOptions {
  readonly repository: string;
  readonly factory: (config: ModelConfig) => ModelFactory | undefined;
  /** Handed to every model: how it reaches the others. */
  readonly exec: Exec;
  /** What is served in the place of a configuration that lies in the repository. */
  readonly configure?: ((config: ModelConfig) => ModelConfig) | undefined;
  /** Fault `stats-fail-when-kv-off`. */
  readonly frozenStatistics: boolean;
}

/** Which models are served, and what the repository index says about each (explicit model control). */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Loads everything in the repository, composing models before the ensembles that use them. */
  loadAll(): void {
    const models = listModels(this.#options.repository);
    for (const name of models) if (this.#read(name)?.config.platform !== 'ensemble') this.load(name);
    for (const name of models) if (!this.#entries.has(name)) this.load(name);
  }

  /**
   * Loads or reloads a model; the old version serves until the new one stands. Ensembles follow their steps. A load
   * without a config of files that have not changed does nothing, so an earlier override stays (observed on 2.51).
   *
   * Errors: INTERNAL `failed to load '<m>', failed to poll from model repository`; INVALID_ARG `load failed for model …`.
   */
  load(name: string, override?: string): void {
    const entry: Entry = this.#entries.get(name) ?? {
      wanted: true,
      reason: '',
      versions: new Map(),
      leaving: new Set(),
      seenVersions: [],
      content: '',
    };
    const stamp = repositoryStamp(this.#options.repository, name);
    if (override === undefined && entry.versions.size > 0 && entry.content === stamp) return;
    const found = this.#poll(name, override);
    if (found.versions.length === 0) {
      throw new CoreError(
        'INVALID_ARG',
        `load failed for model '${name}': at least one version must be available under the version policy of model '${name}'\n`,
      );
    }
    this.#entries.set(name, entry);
    entry.wanted = true;
    this.#serve(entry, found);
    entry.content = stamp;
    this.#followSteps();
  }

  /** Stops serving a model and the ensembles that use it; requests in flight run to their end. A name never seen is no error. */
  unload(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.wanted = false;
    // Of a model that is not served the reason stays what it was.
    if (entry.versions.size > 0) this.#retire(entry, 'unloaded');
    this.#followSteps();
  }

  /**
   * Errors: NOT_FOUND, with the texts of 2.51. `version` -1 = the latest.
   */
  find(name: string, version: number): LoadedModel {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new CoreError('NOT_FOUND', `Request for unknown model: '${name}' is not found`);
    if (entry.versions.size === 0) throw new CoreError('NOT_FOUND', `Request for unknown model: '${name}' has no available versions`);
    const model = entry.versions.get(version === -1 ? Math.max(...entry.versions.keys()) : version);
    if (model === undefined) throw new CoreError('NOT_FOUND', `Request for unknown model: '${name}' version ${version} is not found`);
    return model;
  }

  versionsOf(name: string): readonly LoadedModel[] {
    return [...(this.#entries.get(name)?.versions.values() ?? [])];
  }

  /** Every version that serves, by name. */
  all(): readonly LoadedModel[] {
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, entry]) => [...entry.versions.values()]);
  }

  /** Also those that were unloaded and still run something. */
  allInFlight(): number {
    let n = 0;
    for (const entry of this.#entries.values()) for (const model of [...entry.versions.values(), ...entry.leaving]) n += model.inFlight;
    return n;
  }

  index(readyOnly: boolean): ModelIndexEntry[] {
    const out: ModelIndexEntry[] = [];
    for (const name of [...new Set([...listModels(this.#options.repository), ...this.#entries.keys()])].sort()) {
      const entry = this.#entries.get(name);
      if (entry === undefined) {
        if (!readyOnly) out.push({ name });
        continue;
      }
      const state = entry.versions.size > 0 ? 'READY' : [...entry.leaving].some((m) => m.inFlight > 0) ? 'UNLOADING' : 'UNAVAILABLE';
      if (readyOnly && state !== 'READY') continue;
      for (const version of entry.seenVersions) {
        out.push({
          name,
          version: String(version),
          state,
          ...(state === 'UNAVAILABLE' && entry.reason !== '' ? { reason: entry.reason } : {}),
        });
      }
    }
    return out;
  }

  /** Whether every model that was ever loaded is served, or was unloaded and has let go of its last request (observed on 2.51). */
  ready(): boolean {
    return [...this.#entries.values()].every(
      ({ versions, leaving, reason }) => versions.size > 0 || (reason === 'unloaded' && [...leaving].every((m) => m.inFlight === 0)),
    );
  }

  /** For the end of the server: nothing serves any more, what runs may end. */
  retireAll(): void {
    for (const entry of this.#entries.values()) this.#retire(entry, 'unloaded');
  }

  #read(name: string, override?: string): RepositoryModel | undefined {
    const { configure, repository } = this.#options;
    const found = readModel(repository, name, override);
    return found === undefined || configure === undefined || override !== undefined ? found : { ...found, config: configure(found.config) };
  }

  #poll(name: string, override: string | undefined): RepositoryModel {
    let found: RepositoryModel | undefined;
    try {
      found = this.#read(name, override);
    } catch {
      found = undefined;
    }
    // A config that names another model reads like an empty repository.
    if (found?.config.name !== name) throw new CoreError('INTERNAL', `failed to load '${name}', failed to poll from model repository`);
    return found;
  }

  #serve(entry: Entry, found: RepositoryModel): void {
    const { name } = found;
    this.#checkSteps(found);
    const fresh = new Map<number, LoadedModel>();
    for (const version of found.versions) {
      try {
        fresh.set(version, this.#make(found, version));
      } catch (thrown) {
        const text = (thrown as Error).message;
        entry.seenVersions = found.versions;
        if (entry.versions.size === 0) entry.reason = text;
        throw new CoreError('INVALID_ARG', `load failed for model '${name}': version ${version} is at UNAVAILABLE state: ${text};\n`);
      }
    }
    this.#retire(entry, '');
    for (const [version, model] of fresh) entry.versions.set(version, model);
    entry.seenVersions = found.versions;
  }

  /** After a change: an ensemble whose steps are not all there goes, one whose steps are back comes. */
  #followSteps(): void {
    for (const [name, entry] of this.#entries) {
      const found = this.#read(name);
      if (found?.config.platform !== 'ensemble' || !entry.wanted) continue;
      try {
        this.#checkSteps(found);
        if (entry.versions.size === 0) this.#serve(entry, found);
      } catch {
        if (entry.versions.size > 0) this.#retire(entry, 'unloaded');
      }
    }
  }

  #checkSteps(found: RepositoryModel): void {
    for (const step of found.config.ensemble_scheduling?.step ?? []) {
      const [model] = this.versionsOf(step.model_name);
      const refuse = (text: string): never => {
        throw new CoreError('INVALID_ARG', `load failed for model '${found.name}': ${text}\n`);
      };
      if (model === undefined) return refuse(`ensemble '${found.name}' depends on '${step.model_name}' which has no loaded version`);
      const limit = model.config.max_batch_size;
      if (found.config.max_batch_size > limit) {
        refuse(
          `ensemble ${found.name} allows maximum batch size ${found.config.max_batch_size}, but it contains model ${model.name} which only allows maximum batch size to be ${limit}`,
        );
      }
    }
  }

  #retire(entry: Entry, reason: string): void {
    for (const old of entry.leaving) if (old.inFlight === 0) entry.leaving.delete(old);
    for (const model of entry.versions.values()) entry.leaving.add(model);
    entry.versions.clear();
    entry.reason = reason;
  }

  #make(found: RepositoryModel, version: number): LoadedModel {
    const isEnsemble = found.config.platform === 'ensemble';
    const steps = found.config.ensemble_scheduling?.step ?? [];
    const decoupled = isEnsemble
      ? steps.some((step) => this.find(step.model_name, step.model_version).decoupled)
      : found.config.model_transaction_policy?.decoupled === true;
    const config = isEnsemble && decoupled ? { ...found.config, model_transaction_policy: { decoupled } } : found.config;
    const factory = isEnsemble ? undefined : this.#options.factory(config);
    if (!isEnsemble && factory === undefined) {
      throw new Error(
        `Invalid argument: unable to find backend library for backend '${config.backend}', try specifying runtime on the model configuration.`,
      );
    }
    const begunNs = nowNs();
    const implementation = factory?.({ config, directory: found.directory, version: String(version), exec: this.#options.exec });
    return {
      name: found.name,
      version: String(version),
      directory: found.directory,
      config,
      implementation,
      loadSeconds: implementation === undefined ? 0 : (nowNs() - begunNs) / 1e9,
      statistics: new StatisticsRecorder(this.#options.frozenStatistics),
      inputs: new Map(config.input.map((i) => [i.name, i])),
      outputs: new Map(config.output.map((o) => [o.name, o])),
      allOutputs: new Set(config.output.map((o) => o.name)),
      requiredInputs: config.input.filter((i) => !i.optional).map((i) => i.name),
      decoupled,
      inFlight: 0,
    };
  }
}
