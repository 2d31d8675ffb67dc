import type { handleUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { LogSettings } from '#wire/protocol/server-state.ts';
import { CoreError, type ParameterValue, type TraceSettings, type TritonCore } from '../core/index.ts';
import { grpcError } from './status.ts';

/** Requests as proto-loader decodes them; only what is read here. */
interface Named {
  readonly name: string;
  readonly version: string;
}

interface RepositoryParameter {
  readonly parameter_choice?: 'bool_param' | 'int64_param' | 'string_param' | 'bytes_param';
  readonly bool_param?: boolean;
  readonly int64_param?: string;
  readonly string_param?: string;
  readonly bytes_param?: Uint8Array;
}

interface ModelControl {
  readonly repository_name: string;
  readonly model_name: string;
  readonly parameters: Readonly<Record<string, RepositoryParameter>>;
}

interface SettingValue {
  readonly parameter_choice?: 'bool_param' | 'uint32_param' | 'string_param';
  readonly bool_param?: boolean;
  readonly uint32_param?: number;
  readonly string_param?: string;
}

function unary<Request>(answer: (request: Request) => object | Promise<object>): handleUnaryCall<Request, object> {
  return (call, callback) => {
    void (async () => {
      // Refusals come at once (throw) or later (reject); both end here.
      let response: object;
      try {
        response = await answer(call.request);
      } catch (thrown) {
        callback(grpcError(thrown));
        return;
      }
      callback(null, response);
    })();
  };
}

/** The 18 RPCs that do not infer. */
export function management(core: TritonCore): UntypedServiceImplementation {
  const memory = core.sharedMemory;
  return {
    ServerLive: unary(() => ({ live: core.live() })),
    ServerReady: unary(() => ({ ready: core.ready() })),
    ModelReady: unary(({ name, version }: Named) => ({ ready: core.modelReady(name, version) })),
    ServerMetadata: unary(() => core.serverMetadata()),
    ModelMetadata: unary(({ name, version }: Named) => core.modelMetadata(name, version)),
    ModelConfig: unary(({ name, version }: Named) => {
      const config = core.modelConfig(name, version);
      const readable = config.platform !== 'ensemble' || core.profile.core.ensembleConfigOverGrpc.value;
      return { config: readable ? config : {} };
    }),
    ModelStatistics: unary(({ name, version }: Named) => ({ model_stats: core.modelStatistics(name, version) })),
    RepositoryIndex: unary(({ repository_name, ready }: { repository_name: string; ready: boolean }) => ({
      models: core.repositoryIndex({ readyOnly: ready, repository: repository_name }),
    })),
    RepositoryModelLoad: unary(async ({ model_name, parameters }: ModelControl) => {
      const unknown = Object.keys(parameters).find((key) => key !== 'config' && !key.startsWith('file:'));
      if (unknown !== undefined) throw new CoreError('INVALID_ARG', `unrecognized load parameter '${unknown}'.`);
      await core.loadModel(model_name, repositoryParameters(parameters));
      return {};
    }),
    RepositoryModelUnload: unary(({ model_name, parameters }: ModelControl) => {
      core.unloadModel(model_name, { unloadDependents: parameters['unload_dependents']?.bool_param === true });
      return {};
    }),
    SystemSharedMemoryStatus: unary(({ name }: Named) => ({ regions: byName(memory.systemStatus(name)) })),
    SystemSharedMemoryRegister: unary((r: { name: string; key: string; offset: string; byte_size: string }) => {
      memory.registerSystem(r.name, r.key, Number(r.offset), Number(r.byte_size));
      return {};
    }),
    SystemSharedMemoryUnregister: unary(({ name }: Named) => {
      memory.unregisterSystem(name);
      return {};
    }),
    CudaSharedMemoryStatus: unary(({ name }: Named) => ({ regions: byName(memory.cudaStatus(name)) })),
    CudaSharedMemoryRegister: unary((r: { name: string; raw_handle: Uint8Array; device_id: string; byte_size: string }) => {
      memory.registerCuda(r.name, r.raw_handle, Number(r.device_id), Number(r.byte_size));
      return {};
    }),
    CudaSharedMemoryUnregister: unary(({ name }: Named) => {
      memory.unregisterCuda(name);
      return {};
    }),
    TraceSetting: unary(({ model_name, settings }: { model_name: string; settings: Record<string, { value: string[] }> }) => {
      const change = Object.fromEntries(Object.entries(settings).map(([key, s]) => [key, s.value]));
      return {
        settings: traceMessage(
          Object.keys(change).length === 0 ? core.traceSettings(model_name) : core.updateTraceSettings(model_name, change),
        ),
      };
    }),
    LogSettings: unary(({ settings }: { settings: Record<string, SettingValue> }) => ({
      settings: logMessage(core.updateLogSettings(logChange(settings))),
    })),
  };
}

function byName<T extends { readonly name: string }>(regions: readonly T[]): Record<string, T> {
  return Object.fromEntries(regions.map((r) => [r.name, r]));
}

function repositoryParameters(parameters: ModelControl['parameters']): Map<string, ParameterValue | Uint8Array> {
  const out = new Map<string, ParameterValue | Uint8Array>();
  for (const [key, p] of Object.entries(parameters)) {
    const value = p.bool_param ?? p.string_param ?? p.bytes_param ?? (p.int64_param === undefined ? undefined : BigInt(p.int64_param));
    if (value !== undefined) out.set(key, value);
  }
  return out;
}

function traceMessage(settings: TraceSettings): Record<string, { value: readonly string[] }> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, { value: typeof value === 'string' ? [value] : value }]));
}

function logChange(settings: Readonly<Record<string, SettingValue>>): LogSettings {
  const out: Record<string, string | number | boolean> = {};
  for (const [key, s] of Object.entries(settings)) {
    const value = s.bool_param ?? s.uint32_param ?? s.string_param;
    if (value !== undefined) out[key] = value;
  }
  return out;
}

function logMessage(settings: LogSettings): Record<string, object> {
  const message = (value: string | number | boolean): object =>
    typeof value === 'boolean' ? { bool_param: value } : typeof value === 'number' ? { uint32_param: value } : { string_param: value };
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, message(value)]));
}
