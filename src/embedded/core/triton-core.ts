import { resolve } from 'node:path';
import { nowNs } from '#core/clock/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import { datatypeOf, type ModelConfig } from '#wire/protocol/model-config.ts';
import { metricsText } from '../metrics/index.ts';
import { type CancelToken, cancelToken } from './cancel-token.ts';
import { checkRequest, type CheckedRequest } from './check-request.ts';
import { EnsembleRun, type EnsembleHost } from './ensemble.ts';
import { checkFileOverrides } from './file-overrides.ts';
import type { LoadedModel } from './loaded-model.ts';
import type { ModelFactory, StreamPosition } from './model.ts';
import { printedConfig } from './printed-config.ts';
import { Registry } from './registry.ts';
import { checkReservedParameters, checkScheduling } from './request-parameters.ts';
import { runModel } from './run-model.ts';
import { logSettings, traceSettings } from './settings.ts';
import { sharedMemory } from './shared-memory.ts';
import type { ModelMetadata, TensorMetadata } from '#wire/protocol/server-state.ts';
import { CoreError, type CoreInferRequest, type ResponseSink, type TritonCore } from './types.ts';
import { parseVersion } from './version.ts';

/** In the order of the real server (2.33–2.71). */
const EXTENSIONS = [
  'classification',
  'sequence',
  'model_repository',
  'model_repository(unload_dependents)',
  'schedule_policy',
  'model_configuration',
  'system_shared_memory',
  'cuda_shared_memory',
  'binary_tensor_data',
  'parameters',
  'statistics',
  'trace',
  'logging',
] as const;

/** How long `close` waits for requests in flight: --exit-timeout-secs of the launch profile. */
const EXIT_TIMEOUT_MS = 30_000;

export interface CoreOptions {
  /** Folder of model folders. */
  readonly repository: string;
  readonly profile: ReleaseProfile;
  readonly faults: ReadonlySet<string>;
  /** Finds the code behind a config; undefined = unknown back end. */
  readonly factory: (config: ModelConfig) => ModelFactory | undefined;
  /** What is served in the place of a configuration that lies in the repository; absent: as it lies there. */
  readonly configure?: (config: ModelConfig) => ModelConfig;
  /** Runs when the last request has ended, at close. */
  readonly onClose?: () => Promise<void>;
}

/**
 * The embedded Triton core with everything in the repository loaded.
 *
 * Errors: CoreError when a model cannot be loaded (a real server exits then, --exit-on-error).
 */
export function createTritonCore(options: CoreOptions): TritonCore {
  const registry = new Registry({
    repository: resolve(options.repository),
    factory: options.factory,
    exec: (request, sink, position) => {
      const token = cancelToken();
      host.start(find(request.modelName, request.modelVersion), request, token, sink, position);
      return token;
    },
    configure: options.configure,
    frozenStatistics: options.faults.has('stats-fail-when-kv-off'),
  });
  registry.loadAll();
  const { core } = options.profile;
  const trace = traceSettings(core.traceMode.value);
  const log = logSettings();
  const memory = sharedMemory(core);
  let exiting = false;

  const start = (
    model: LoadedModel,
    request: CoreInferRequest,
    checked: CheckedRequest,
    token: CancelToken,
    queuedNs: number,
    sink: ResponseSink,
    position?: StreamPosition,
  ): void => {
    if (model.implementation === undefined) new EnsembleRun(host, model, request, checked, token, queuedNs, sink).run();
    else runModel(model, model.implementation, request, checked, token, queuedNs, sink, core, position);
  };
  const host: EnsembleHost = {
    find: (name, version) => registry.find(name, version),
    start: (model, request, token, sink, position) => {
      const checked = checkRequest(model, request, core);
      model.inFlight++;
      model.statistics.queued();
      start(model, request, checked, token, nowNs(), sink, position);
    },
    cancelReachesRunningStep: core.ensembleCancelReachesRunningStep.value,
    stepFailuresCountTwice: core.stepFailuresCountTwice.value,
  };
  const requireTraced = (name: string): void => {
    if (name !== '' && registry.versionsOf(name).length === 0) throw new CoreError('INVALID_ARG', `Request for unknown model : ${name}`);
  };
  const find = (name: string, version: string): LoadedModel => registry.find(name, parseVersion(version));

  return {
    profile: options.profile,
    live: () => true,
    ready: () => !exiting && registry.ready(),
    modelReady: (name, version) => {
      const wanted = parseVersion(version);
      return registry.versionsOf(name).some((m) => wanted === -1 || Number(m.version) === wanted);
    },
    serverMetadata: () => ({ name: 'triton', version: core.serverVersion.value, extensions: EXTENSIONS }),
    modelMetadata: (name, version) => metadataOf(find(name, version), version === '' ? registry.versionsOf(name) : [find(name, version)]),
    modelConfig: (name, version) => printedConfig(find(name, version).config, core),
    isDecoupled: (name, version) => find(name, version).decoupled,
    modelStatistics: (name, version) => {
      const wanted = parseVersion(version);
      if (name === '') return registry.all().map((m) => m.statistics.snapshot(m.name, m.version));
      const versions = registry.versionsOf(name);
      if (versions.length === 0) throw new CoreError('INVALID_ARG', `requested model '${name}' is not available`);
      const chosen = versions.filter((m) => wanted === -1 || Number(m.version) === wanted);
      if (chosen.length === 0) throw new CoreError('INVALID_ARG', `requested model version is not available for model '${name}'`);
      return chosen.map((m) => m.statistics.snapshot(m.name, m.version));
    },
    repositoryIndex: (index = {}) => {
      if ((index.repository ?? '') !== '') throw new CoreError('UNSUPPORTED', "'repository_name' specification is not supported");
      return registry.index(index.readyOnly ?? false);
    },
    loadModel: async (name, parameters) => {
      const config = parameters.get('config');
      const files = [...parameters.keys()].filter((k) => k.startsWith('file:'));
      checkFileOverrides(name, files, typeof config === 'string');
      registry.load(name, typeof config === 'string' ? config : undefined);
    },
    unloadModel: (name) => registry.unload(name),
    sharedMemory: memory,
    traceSettings: (model) => {
      requireTraced(model);
      return trace.read(model);
    },
    updateTraceSettings: (model, change) => {
      requireTraced(model);
      return trace.update(model, change);
    },
    logSettings: log.read,
    updateLogSettings: log.update,
    infer: (request, sink, transport) => {
      const model = find(request.modelName, request.modelVersion);
      checkReservedParameters(request.parameters, transport);
      checkScheduling(request.parameters);
      const checked = checkRequest(model, request, core);
      const token = cancelToken();
      const queuedNs = nowNs();
      model.inFlight++;
      model.statistics.queued();
      setImmediate(() => start(model, request, checked, token, queuedNs, sink));
      return token;
    },
    metricsText: () => metricsText(registry.all(), core),
    close: async () => {
      exiting = true;
      registry.retireAll();
      await pollUntil({ ms: EXIT_TIMEOUT_MS, what: 'requests in flight to end', everyMs: 5 }, () =>
        registry.allInFlight() === 0 ? true : undefined,
      ).catch(() => undefined);
      memory.close();
      await options.onClose?.();
    },
  };
}

function metadataOf(model: LoadedModel, versions: readonly LoadedModel[]): ModelMetadata {
  const { config } = model;
  const lead = config.max_batch_size > 0 ? [-1] : [];
  const tensors = (list: ModelConfig['input'] | ModelConfig['output']): TensorMetadata[] =>
    list.map((t) => ({ name: t.name, datatype: datatypeOf(t.data_type), shape: [...lead, ...t.dims] }));
  return {
    name: config.name,
    versions: versions.map((v) => v.version),
    platform: config.platform === '' ? config.backend : config.platform,
    inputs: tensors(config.input),
    outputs: tensors(config.output),
  };
}
