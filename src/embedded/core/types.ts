/** The seam between the embedded core (models, scheduler, checks) and its front ends (gRPC, HTTP, OpenAI). */
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { CudaRegion, LogSettings, ModelMetadata, ModelStatistics, ServerMetadata, SystemRegion } from '#wire/protocol/server-state.ts';
import type { Datatype } from '#wire/protocol/tensors.ts';

export type ParameterValue = boolean | bigint | number | string;

/** A tensor inside the server: raw little-endian bytes as on the wire, batch dimension included in the shape. */
export interface CoreTensor {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

export interface CoreInferRequest {
  readonly modelName: string;
  /** '' = latest. */
  readonly modelVersion: string;
  readonly id: string;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly inputs: readonly CoreTensor[];
  /** Empty = all outputs of the model. */
  readonly requestedOutputs: readonly string[];
}

export interface CoreInferResponse {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly outputs: readonly CoreTensor[];
  readonly error: CoreError | undefined;
  /** Inside the server only, and only from models that answer in parts. */
  readonly part?: ResponsePart | undefined;
}

/** Which of the answers that one request asked for (its rows, and the sequences of each) a response belongs to. */
export interface ResponsePart {
  /** Counted from 0 over rows and sequences. */
  readonly index: number;
  /** Whether no other response belongs to it; other answers may still come. */
  readonly last: boolean;
}

/** Names of TRITONSERVER_Error codes; each front end maps them (gRPC status, HTTP status). */
export type CoreErrorCode =
  | 'UNKNOWN'
  | 'INTERNAL'
  | 'NOT_FOUND'
  | 'INVALID_ARG'
  | 'UNAVAILABLE'
  | 'UNSUPPORTED'
  | 'ALREADY_EXISTS'
  | 'CANCELLED';

export class CoreError extends Error {
  readonly code: CoreErrorCode;
  constructor(code: CoreErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Responses of one request, in order. `response` is undefined for a flag-only message; `final` is true exactly once,
 * on the last call.
 */
export type ResponseSink = (response: CoreInferResponse | undefined, final: boolean) => void;

export interface InferHandle {
  /** Marks the request as cancelled, as Triton does: the model notices on its own schedule, the sink is still called. */
  cancel(): void;
}

/**
 * Where a request came from: the texts of reserved parameters differ, and `http-generate` does not check them at all
 * (docs/observed.md#triton-2-51).
 */
export type Transport = 'grpc' | 'http-infer' | 'http-generate' | 'internal';

/** Absent keys are absent in the JSON form and empty in gRPC. */
export interface ModelIndexEntry {
  readonly name: string;
  readonly version?: string;
  readonly state?: 'UNKNOWN' | 'READY' | 'UNAVAILABLE' | 'LOADING' | 'UNLOADING';
  readonly reason?: string;
}

/** Shared-memory bookkeeping. All methods throw CoreError. */
export interface SharedMemory {
  /** '' = all regions; an unknown name: NOT_FOUND `Unable to find system shared memory region: '<name>'`. */
  systemStatus(name: string): readonly SystemRegion[];
  registerSystem(name: string, key: string, offset: number, byteSize: number): void;
  /** '' = all. An unknown name is no error. */
  unregisterSystem(name: string): void;
  cudaStatus(name: string): readonly CudaRegion[];
  registerCuda(name: string, rawHandle: Uint8Array, deviceId: number, byteSize: number): void;
  unregisterCuda(name: string): void;
  /** Bytes of a registered system region, for an input tensor. */
  read(region: string, offset: number, byteSize: number): Uint8Array;
  /** Puts an output tensor into a registered system region; returns nothing, throws when it does not fit. */
  write(region: string, offset: number, byteSize: number, data: Uint8Array): void;
}

export type TraceSettings = Readonly<Record<string, string | readonly string[]>>;

/** The server behind the front ends. Every method that can be refused throws CoreError with Triton's text and code. */
export interface TritonCore {
  readonly profile: ReleaseProfile;
  live(): boolean;
  ready(): boolean;
  /** Unknown model or version: false. INVALID_ARG for a version string that is no number. */
  modelReady(name: string, version: string): boolean;
  serverMetadata(): ServerMetadata;
  modelMetadata(name: string, version: string): ModelMetadata;
  /** The JSON form that `/config` prints, defaults included; print it with JSON.stringify. */
  modelConfig(name: string, version: string): ModelConfig;
  /** Whether the model has the decoupled transaction policy (an ensemble: whether any step has). */
  isDecoupled(name: string, version: string): boolean;
  /** '' = all models, or all versions. */
  modelStatistics(name: string, version: string): readonly ModelStatistics[];
  repositoryIndex(options?: { readonly readyOnly?: boolean; readonly repository?: string }): readonly ModelIndexEntry[];
  /** Parameters as received: `config` (JSON text), `file:<path>` (bytes). */
  loadModel(name: string, parameters: ReadonlyMap<string, ParameterValue | Uint8Array>): Promise<void>;
  /** Returns at once; requests in flight run to their end. */
  unloadModel(name: string, options?: { readonly unloadDependents?: boolean }): void;
  readonly sharedMemory: SharedMemory;
  /** '' = the global settings. In JSON: trace_level is a list, the rest are strings. */
  traceSettings(modelName: string): TraceSettings;
  /** An empty list or undefined clears a setting to its default. Returns the settings after the change. */
  updateTraceSettings(modelName: string, change: Readonly<Record<string, readonly string[] | undefined>>): TraceSettings;
  logSettings(): LogSettings;
  updateLogSettings(change: LogSettings): LogSettings;
  /**
   * Takes a request in. Throws CoreError when it is refused before it is queued (unknown model, bad tensors …): then
   * the sink is never called. Errors of the model arrive as a response with `error` set. The sink is never called
   * inside this call. Decoupled models are accepted from every transport: a front end that cannot serve them asks
   * `isDecoupled` first.
   */
  infer(request: CoreInferRequest, sink: ResponseSink, transport: Transport): InferHandle;
  /** Prometheus text of the metrics port. */
  metricsText(): string;
  /** New requests find `no available versions`, as on a real server that ends; waits for those in flight, closes the engine. */
  close(): Promise<void>;
}
