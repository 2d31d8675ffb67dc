import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { LoadedModel } from './loaded-model.ts';
import { readModel, listModels, type RepositoryModel } from './repository.ts';
import type { ModelFactory } from './model.ts';
import { StatisticsRecorder } from './statistics.ts';
import { CoreError, type ModelIndexEntry } from './types.ts';

interface Entry {
  state: 'READY' | 'UNAVAILABLE' | 'LOADING' | 'UNLOADING';
  reason: string;
  readonly versions: Map<number, LoadedModel>;
  /** Versions that were unloaded while requests were running on them. */
  readonly leaving: Set<LoadedModel>;
  seenVersions: readonly number[];
}

export interface RegistryOptions {
  readonly repository: string;
  readonly factory: (config: ModelConfig) => ModelFactory | undefined;
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
    for (const name of models) if (readModel(this.#options.repository, name)?.config.platform !== 'ensemble') this.load(name);
    for (const name of models) if (!this.#entries.has(name)) this.load(name);
  }

  /**
   * Loads or reloads a model; the old version serves until the new one stands.
   *
   * Errors: INTERNAL `failed to load '<m>', failed to poll from model repository`; INVALID_ARG `load failed for model …`.
   */
  load(name: string, override?: string): void {
    let found: RepositoryModel | undefined;
    try {
      found = readModel(this.#options.repository, name, override);
    } catch {
      found = undefined;
    }
    if (found === undefined) throw new CoreError('INTERNAL', `failed to load '${name}', failed to poll from model repository`);
    if (found.versions.length === 0) throw new CoreError('INTERNAL', `failed to load '${name}', no version is available`);
    const entry: Entry = this.#entries.get(name) ?? { state: 'LOADING', reason: '', versions: new Map(), leaving: new Set(), seenVersions: [] };
    this.#entries.set(name, entry);
    const fresh = new Map<number, LoadedModel>();
    for (const version of found.versions) {
      try {
        fresh.set(version, this.#make(found, version));
      } catch (thrown) {
        const text = (thrown as Error).message;
        entry.seenVersions = found.versions;
        entry.state = entry.versions.size > 0 ? 'READY' : 'UNAVAILABLE';
        entry.reason = text;
        throw new CoreError('INVALID_ARG', `load failed for model '${name}': version ${version} is at UNAVAILABLE state: ${text};\n`);
      }
    }
    this.#retire(entry);
    for (const [version, model] of fresh) entry.versions.set(version, model);
    entry.seenVersions = found.versions;
    entry.state = 'READY';
    entry.reason = '';
  }

  /** Stops serving a model; requests in flight run to their end. A name never seen is no error. */
  unload(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#retire(entry);
    entry.state = 'UNAVAILABLE';
    entry.reason = 'unloaded';
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
      const state = entry.state === 'UNAVAILABLE' && [...entry.leaving].some((m) => m.inFlight > 0) ? 'UNLOADING' : entry.state;
      if (readyOnly && state !== 'READY') continue;
      for (const version of entry.seenVersions) {
        const reason = state === 'UNLOADING' ? '' : entry.reason;
        out.push({ name, version: String(version), state, ...(reason === '' ? {} : { reason }) });
      }
    }
    return out;
  }

  close(): void {
    for (const model of this.all()) model.implementation?.close?.();
  }

  #retire(entry: Entry): void {
    for (const old of entry.leaving) if (old.inFlight === 0) entry.leaving.delete(old);
    for (const model of entry.versions.values()) entry.leaving.add(model);
    entry.versions.clear();
  }

  #make(found: RepositoryModel, version: number): LoadedModel {
    const isEnsemble = found.config.platform === 'ensemble';
    const steps = found.config.ensemble_scheduling?.step ?? [];
    for (const step of steps) {
      if (this.versionsOf(step.model_name).length === 0) {
        throw new Error(`Invalid argument: ensemble '${found.name}' depends on '${step.model_name}' which has no loaded version. Model '${step.model_name}' loading failed with error: model is not found`);
      }
    }
    const decoupled = isEnsemble
      ? steps.some((step) => this.find(step.model_name, step.model_version).decoupled)
      : found.config.model_transaction_policy?.decoupled === true;
    const config = isEnsemble && decoupled ? { ...found.config, model_transaction_policy: { decoupled } } : found.config;
    const factory = isEnsemble ? undefined : this.#options.factory(config);
    if (!isEnsemble && factory === undefined) {
      throw new Error(`Invalid argument: unable to find backend library for backend '${config.backend}', try specifying runtime on the model configuration.`);
    }
    return {
      name: found.name,
      version: String(version),
      directory: found.directory,
      config,
      implementation: factory?.({ config, directory: found.directory, version: String(version) }),
      statistics: new StatisticsRecorder(this.#options.frozenStatistics),
      inputs: new Map(config.input.map((i) => [i.name, i])),
      outputs: new Map(config.output.map((o) => [o.name, o])),
      requiredInputs: config.input.filter((i) => !i.optional).length,
      decoupled,
      inFlight: 0,
    };
  }
}
