/** What Triton tells about itself, in the JSON form: snake_case, in key order. Both ends of the wire speak it. */
import type { Datatype } from './tensors.ts';

export interface ServerMetadata {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

export interface TensorMetadata {
  readonly name: string;
  readonly datatype: Datatype;
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

/** One entry of `model_stats`. */
export interface ModelStatistics {
  readonly name: string;
  readonly version: string;
  /** Milliseconds since 1970; 0 before the first. */
  readonly last_inference: number;
  readonly inference_count: number;
  readonly execution_count: number;
  readonly inference_stats: {
    readonly success: DurationStatistics;
    readonly fail: DurationStatistics;
    readonly queue: DurationStatistics;
    readonly compute_input: DurationStatistics;
    readonly compute_infer: DurationStatistics;
    readonly compute_output: DurationStatistics;
    readonly cache_hit: DurationStatistics;
    readonly cache_miss: DurationStatistics;
  };
  /** Empty for the Python backend of 2.51, which does not report (docs/observed.md#triton-2-51). */
  readonly response_stats: Readonly<Record<string, Readonly<Record<string, DurationStatistics>>>>;
  readonly batch_stats: readonly {
    readonly batch_size: number;
    readonly compute_input: DurationStatistics;
    readonly compute_infer: DurationStatistics;
    readonly compute_output: DurationStatistics;
  }[];
  readonly memory_usage: readonly { readonly type: string; readonly id: number; readonly byte_size: number }[];
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

export type LogSettings = Readonly<Record<string, string | number | boolean>>;
