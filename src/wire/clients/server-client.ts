/** What Triton tells about itself, in the same words over gRPC and HTTP: snake_case as in the JSON form. */
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { CallOptions } from './types.ts';

export interface ServerMetadata {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

export interface TensorMetadata {
  readonly name: string;
  readonly datatype: string;
  /** Leading -1 when the model batches. */
  readonly shape: readonly number[];
}

export interface ModelMetadata {
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
}

export interface DurationStatistics {
  readonly count: number;
  readonly ns: number;
}

export interface ModelStatistics {
  readonly name: string;
  readonly version: string;
  /** Milliseconds since 1970; 0 before the first. */
  readonly last_inference: number;
  readonly inference_count: number;
  readonly execution_count: number;
  /** success, fail, queue, compute_input, compute_infer, compute_output, cache_hit, cache_miss. */
  readonly inference_stats: Readonly<Record<string, DurationStatistics>>;
  readonly response_stats: Readonly<Record<string, Readonly<Record<string, DurationStatistics>>>>;
  readonly batch_stats: readonly {
    readonly batch_size: number;
    readonly compute_input: DurationStatistics;
    readonly compute_infer: DurationStatistics;
    readonly compute_output: DurationStatistics;
  }[];
  readonly memory_usage: readonly { readonly type: string; readonly id: number; readonly byte_size: number }[];
}

/** '' where the server gave nothing: a model never loaded has a name only. */
export interface ModelIndexEntry {
  readonly name: string;
  readonly version: string;
  /** UNKNOWN, READY, UNAVAILABLE, LOADING, UNLOADING, or ''. */
  readonly state: string;
  readonly reason: string;
}

export interface SystemRegion {
  readonly name: string;
  readonly key: string;
  readonly offset: number;
  readonly byte_size: number;
}

export interface CudaRegion {
  readonly name: string;
  readonly device_id: number;
  readonly byte_size: number;
}

/** Values as gRPC carries them: lists; a setting with one value is a list of one. */
export type TraceSettings = Readonly<Record<string, readonly string[]>>;
export type LogSettings = Readonly<Record<string, boolean | number | string>>;

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
