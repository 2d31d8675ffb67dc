import { configJson } from '#wire/protocol/config-json.ts';
import { HEALTH_SERVICE, INFERENCE_SERVICE } from '#wire/protocol/service.ts';
import type {
  CudaRegion,
  LogSettings,
  ModelMetadata,
  ModelStatistics,
  ServerMetadata,
  SystemRegion,
  TensorMetadata,
} from '#wire/protocol/server-state.ts';
import type { ModelIndexEntry, ServerClient, TraceSettings } from '../server-client.ts';
import type { CallOptions } from '../types.ts';
import type { GrpcChannel, Method } from './channel.ts';

/** grpc.health.v1: UNKNOWN, SERVING, NOT_SERVING, SERVICE_UNKNOWN. */
export type HealthStatus = string;

export interface GrpcServerClient extends ServerClient {
  /** grpc.health.v1.Health/Check on the same port; follows ServerReady. */
  healthCheck(options: CallOptions): Promise<HealthStatus>;
}

/** All RPCs but inference, typed. 64-bit numbers become numbers. Errors: those of `GrpcChannel.call`. */
export function grpcServerClient(channel: GrpcChannel): GrpcServerClient {
  const call = <Res>(rpc: string, request: object, options: CallOptions): Promise<Res> =>
    channel.call(INFERENCE_SERVICE[rpc] as unknown as Method<object, Res>, request, options);
  const done = (rpc: string, request: object, options: CallOptions): Promise<void> => call(rpc, request, options).then(() => {});
  return {
    live: async (o) => (await call<{ live: boolean }>('ServerLive', {}, o)).live,
    ready: async (o) => (await call<{ ready: boolean }>('ServerReady', {}, o)).ready,
    healthCheck: async (o) => (await channel.call(HEALTH_SERVICE['Check'] as unknown as Method<object, { status: string }>, {}, o)).status,
    modelReady: async (name, version, o) => (await call<{ ready: boolean }>('ModelReady', { name, version }, o)).ready,
    serverMetadata: (o) => call<ServerMetadata>('ServerMetadata', {}, o),
    modelMetadata: async (name, version, o) => {
      const m = await call<RawModelMetadata>('ModelMetadata', { name, version }, o);
      return { ...m, inputs: m.inputs.map(tensorMetadata), outputs: m.outputs.map(tensorMetadata) };
    },
    modelConfig: async (name, version, o) => configJson((await call<{ config: object }>('ModelConfig', { name, version }, o)).config),
    statistics: async (name, version, o) =>
      numeric((await call<{ model_stats: unknown }>('ModelStatistics', { name, version }, o)).model_stats) as readonly ModelStatistics[],
    repositoryIndex: async (o) =>
      (await call<{ models: readonly ModelIndexEntry[] }>('RepositoryIndex', { ready: o.readyOnly ?? false }, o)).models,
    loadModel: (model, o) => {
      const files = Object.entries(o.files ?? {}).map(([path, bytes]) => [`file:${path}`, { bytes_param: bytes }] as const);
      const parameters = Object.fromEntries([
        ...(o.config === undefined ? [] : [['config', { string_param: o.config }] as const]),
        ...files,
      ]);
      return done('RepositoryModelLoad', { model_name: model, parameters }, o);
    },
    unloadModel: (model, o) => {
      const parameters = o.dependents === undefined ? {} : { unload_dependents: { bool_param: o.dependents } };
      return done('RepositoryModelUnload', { model_name: model, parameters }, o);
    },
    traceSettings: async (model, o) => traceSettings(await call('TraceSetting', { model_name: model }, o)),
    updateTraceSettings: async (model, change, o) => {
      const settings = Object.fromEntries(Object.entries(change).map(([key, value]) => [key, { value }]));
      return traceSettings(await call('TraceSetting', { model_name: model, settings }, o));
    },
    logSettings: async (o) => logSettings(await call('LogSettings', {}, o)),
    updateLogSettings: async (change, o) => {
      const settings = Object.fromEntries(Object.entries(change).map(([key, value]) => [key, logSetting(value)]));
      return logSettings(await call('LogSettings', { settings }, o));
    },
    systemSharedMemory: async (name, o) => regions<SystemRegion>(await call('SystemSharedMemoryStatus', { name }, o)),
    registerSystemSharedMemory: (region, o) => done('SystemSharedMemoryRegister', region, o),
    unregisterSystemSharedMemory: (name, o) => done('SystemSharedMemoryUnregister', { name }, o),
    cudaSharedMemory: async (name, o) => regions<CudaRegion>(await call('CudaSharedMemoryStatus', { name }, o)),
    registerCudaSharedMemory: ({ rawHandle, ...region }, o) => done('CudaSharedMemoryRegister', { ...region, raw_handle: rawHandle }, o),
    unregisterCudaSharedMemory: (name, o) => done('CudaSharedMemoryUnregister', { name }, o),
  };
}

type RawTensorMetadata = Omit<TensorMetadata, 'shape'> & { readonly shape: readonly string[] };
type RawModelMetadata = Omit<ModelMetadata, 'inputs' | 'outputs'> & {
  readonly inputs: readonly RawTensorMetadata[];
  readonly outputs: readonly RawTensorMetadata[];
};

function tensorMetadata(t: RawTensorMetadata): TensorMetadata {
  return { ...t, shape: t.shape.map(Number) };
}

/** Fields of the statistics and shared-memory messages that are text; all others are 64-bit numbers, decoded as decimal strings. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['name', 'version', 'type', 'key']);

function numeric(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(numeric);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, typeof v === 'string' && !TEXT_FIELDS.has(k) ? Number(v) : numeric(v)]),
  );
}

function regions<T>(response: { readonly regions: Readonly<Record<string, unknown>> }): readonly T[] {
  return Object.values(response.regions).map(numeric) as readonly T[];
}

function traceSettings(response: { readonly settings: Readonly<Record<string, { readonly value: readonly string[] }>> }): TraceSettings {
  return Object.fromEntries(Object.entries(response.settings).map(([key, { value }]) => [key, value]));
}

interface RawLogSetting {
  readonly parameter_choice?: string;
  readonly [member: string]: unknown;
}

function logSettings(response: { readonly settings: Readonly<Record<string, RawLogSetting>> }): LogSettings {
  return Object.fromEntries(
    Object.entries(response.settings).map(([key, s]) => [key, s[s.parameter_choice ?? ''] as boolean | number | string]),
  );
}

function logSetting(value: boolean | number | string): object {
  return typeof value === 'boolean' ? { bool_param: value } : typeof value === 'number' ? { uint32_param: value } : { string_param: value };
}
