/** What Triton tells about itself, in the same words over gRPC and HTTP. */
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { CudaRegion, LogSettings, ModelMetadata, ModelStatistics, ServerMetadata, SystemRegion } from '#wire/protocol/server-state.ts';
import type { CallOptions } from './types.ts';

/** '' where the server gave nothing: a model never loaded has a name only. */
export interface ModelIndexEntry {
  readonly name: string;
  readonly version: string;
  /** UNKNOWN, READY, UNAVAILABLE, LOADING, UNLOADING, or ''. */
  readonly state: string;
  readonly reason: string;
}

/** Values as gRPC carries them: lists; a setting with one value is a list of one. */
export type TraceSettings = Readonly<Record<string, readonly string[]>>;

/**
 * Everything but inference. Both protocols implement it and meet the same contract test; what a server refuses is an
 * error with the protocol's own code (`grpc-<status-name>` or `http-<status>`). '' as a version is the latest; '' as a
 * model name is all models.
 */
export interface ServerClient {
  live(options: CallOptions): Promise<boolean>;
  ready(options: CallOptions): Promise<boolean>;
  modelReady(model: string, version: string, options: CallOptions): Promise<boolean>;
  serverMetadata(options: CallOptions): Promise<ServerMetadata>;
  modelMetadata(model: string, version: string, options: CallOptions): Promise<ModelMetadata>;
  modelConfig(model: string, version: string, options: CallOptions): Promise<ModelConfig>;
  statistics(model: string, version: string, options: CallOptions): Promise<readonly ModelStatistics[]>;
  repositoryIndex(options: CallOptions & { readonly readyOnly?: boolean }): Promise<readonly ModelIndexEntry[]>;
  /** `config`: JSON text that replaces config.pbtxt; `files`: path inside the version folder → content. */
  loadModel(model: string, options: CallOptions & LoadParameters): Promise<void>;
  unloadModel(model: string, options: CallOptions & { readonly dependents?: boolean }): Promise<void>;
  traceSettings(model: string, options: CallOptions): Promise<TraceSettings>;
  /** An empty list clears a setting. Gives the settings after the change. */
  updateTraceSettings(model: string, change: TraceSettings, options: CallOptions): Promise<TraceSettings>;
  logSettings(options: CallOptions): Promise<LogSettings>;
  updateLogSettings(change: LogSettings, options: CallOptions): Promise<LogSettings>;
  systemSharedMemory(region: string, options: CallOptions): Promise<readonly SystemRegion[]>;
  registerSystemSharedMemory(region: SystemRegion, options: CallOptions): Promise<void>;
  unregisterSystemSharedMemory(region: string, options: CallOptions): Promise<void>;
  cudaSharedMemory(region: string, options: CallOptions): Promise<readonly CudaRegion[]>;
  registerCudaSharedMemory(region: CudaRegion & { readonly rawHandle: Uint8Array }, options: CallOptions): Promise<void>;
  unregisterCudaSharedMemory(region: string, options: CallOptions): Promise<void>;
}

export interface LoadParameters {
  readonly config?: string;
  readonly files?: Readonly<Record<string, Uint8Array>>;
}
