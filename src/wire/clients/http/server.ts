import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { CudaRegion, LogSettings, ModelMetadata, ModelStatistics, ServerMetadata, SystemRegion } from '#wire/protocol/server-state.ts';
import type { ModelIndexEntry, ServerClient, TraceSettings } from '../server-client.ts';
import type { CallOptions } from '../types.ts';
import { type HttpChannel, JSON_CONTENT } from './channel.ts';
import { modelPath } from './paths.ts';

/** All endpoints but inference, in the words of the gRPC client. Errors: those of HttpChannel.json. */
export function httpServerClient(channel: HttpChannel): ServerClient {
  const get = <T>(path: string, o: CallOptions): Promise<T> => channel.json<T>({ method: 'GET', path }, o);
  const send = (path: string, body: object, o: CallOptions) =>
    channel.ok({ method: 'POST', path, headers: JSON_CONTENT, body: JSON.stringify(body) }, o);
  const post = <T>(path: string, body: object, o: CallOptions): Promise<T> =>
    channel.json<T>({ method: 'POST', path, headers: JSON_CONTENT, body: JSON.stringify(body) }, o);
  const done = async (path: string, body: object, o: CallOptions): Promise<void> => void (await send(path, body, o));
  /** 200 is yes; every other status of the health routes is no. */
  const yes = async (path: string, o: CallOptions): Promise<boolean> => (await channel.answer({ method: 'GET', path }, o)).status === 200;
  return {
    live: (o) => yes('/v2/health/live', o),
    ready: (o) => yes('/v2/health/ready', o),
    modelReady: (model, version, o) => yes(`${modelPath(model, version)}/ready`, o),
    serverMetadata: (o) => get<ServerMetadata>('/v2', o),
    modelMetadata: (model, version, o) => get<ModelMetadata>(modelPath(model, version), o),
    modelConfig: (model, version, o) => get<ModelConfig>(`${modelPath(model, version)}/config`, o),
    statistics: async (model, version, o) => {
      const path = model === '' ? '/v2/models/stats' : `${modelPath(model, version)}/stats`;
      return (await get<{ model_stats: readonly ModelStatistics[] }>(path, o)).model_stats;
    },
    repositoryIndex: async (o) => {
      const index = await post<readonly Partial<ModelIndexEntry>[]>(
        '/v2/repository/index',
        o.readyOnly === undefined ? {} : { ready: o.readyOnly },
        o,
      );
      return index.map((entry) => ({ name: '', version: '', state: '', reason: '', ...entry }));
    },
    loadModel: (model, o) => {
      const files = Object.entries(o.files ?? {}).map(([path, bytes]) => [`file:${path}`, Buffer.from(bytes).toString('base64')]);
      const parameters = { ...(o.config === undefined ? {} : { config: o.config }), ...Object.fromEntries(files) };
      return done(`/v2/repository/models/${encodeURIComponent(model)}/load`, Object.keys(parameters).length === 0 ? {} : { parameters }, o);
    },
    unloadModel: (model, o) => {
      const body = o.dependents === undefined ? {} : { parameters: { unload_dependents: o.dependents } };
      return done(`/v2/repository/models/${encodeURIComponent(model)}/unload`, body, o);
    },
    traceSettings: async (model, o) => traceSettings(await get(tracePath(model), o)),
    updateTraceSettings: async (model, change, o) => traceSettings(await post(tracePath(model), traceChange(change), o)),
    logSettings: (o) => get<LogSettings>('/v2/logging', o),
    updateLogSettings: (change, o) => post<LogSettings>('/v2/logging', change, o),
    systemSharedMemory: (region, o) => get<readonly SystemRegion[]>(`${regionPath('system', region)}/status`, o),
    registerSystemSharedMemory: ({ name, ...region }, o) => done(`${regionPath('system', name)}/register`, region, o),
    unregisterSystemSharedMemory: (region, o) => done(`${regionPath('system', region)}/unregister`, {}, o),
    cudaSharedMemory: (region, o) => get<readonly CudaRegion[]>(`${regionPath('cuda', region)}/status`, o),
    registerCudaSharedMemory: ({ name, rawHandle, ...region }, o) =>
      done(`${regionPath('cuda', name)}/register`, { raw_handle: { b64: Buffer.from(rawHandle).toString('base64') }, ...region }, o),
    unregisterCudaSharedMemory: (region, o) => done(`${regionPath('cuda', region)}/unregister`, {}, o),
  };
}

function tracePath(model: string): string {
  return model === '' ? '/v2/trace/setting' : `/v2/models/${encodeURIComponent(model)}/trace/setting`;
}

function regionPath(kind: 'system' | 'cuda', region: string): string {
  return `/v2/${kind}sharedmemory${region === '' ? '' : `/region/${encodeURIComponent(region)}`}`;
}

function traceSettings(json: Readonly<Record<string, string | readonly string[]>>): TraceSettings {
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, typeof value === 'string' ? [value] : value]));
}

/** trace_level is a list in JSON, the other settings are strings, null clears. */
function traceChange(change: TraceSettings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(change).map(([key, value]) => [key, value.length === 0 ? null : key === 'trace_level' ? value : value[0]]),
  );
}
