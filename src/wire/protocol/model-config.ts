/**
 * ModelConfig in its JSON form: what `/v2/models/<m>/config` prints and what the gRPC ModelConfig RPC carries.
 * Names are snake_case as in proto/model_config.proto; 64-bit numbers are JSON numbers; unset sub-messages are absent,
 * everything else is printed with its default (docs/observed.md#triton-2-51).
 */
import type { Datatype } from './tensors.ts';

export type DataTypeName = `TYPE_${'INVALID' | 'STRING' | Exclude<Datatype, 'BYTES'>}`;

export interface TensorReshape {
  readonly shape: readonly number[];
}

export interface ModelInput {
  readonly name: string;
  readonly data_type: DataTypeName;
  readonly format: string;
  readonly dims: readonly number[];
  readonly reshape?: TensorReshape;
  readonly is_shape_tensor: boolean;
  readonly allow_ragged_batch: boolean;
  readonly optional: boolean;
  readonly is_non_linear_format_io: boolean;
}

export interface ModelOutput {
  readonly name: string;
  readonly data_type: DataTypeName;
  readonly dims: readonly number[];
  readonly reshape?: TensorReshape;
  readonly label_filename: string;
  readonly is_shape_tensor: boolean;
  readonly is_non_linear_format_io: boolean;
}

export interface EnsembleStep {
  readonly model_name: string;
  /** -1 = latest. */
  readonly model_version: number;
  /** Step input → ensemble tensor. */
  readonly input_map: Readonly<Record<string, string>>;
  /** Step output → ensemble tensor. */
  readonly output_map: Readonly<Record<string, string>>;
  readonly model_namespace: string;
}

export interface QueuePolicy {
  readonly timeout_action: string;
  readonly default_timeout_microseconds: number;
  readonly allow_timeout_override: boolean;
  readonly max_queue_size: number;
}

export interface DynamicBatching {
  readonly preferred_batch_size: readonly number[];
  readonly max_queue_delay_microseconds: number;
  readonly preserve_ordering: boolean;
  readonly priority_levels: number;
  readonly default_priority_level: number;
  readonly default_queue_policy?: QueuePolicy;
  readonly priority_queue_policy: Readonly<Record<string, QueuePolicy>>;
}

export interface InstanceGroup {
  readonly name: string;
  readonly kind: string;
  readonly count: number;
  readonly gpus: readonly number[];
  readonly secondary_devices: readonly unknown[];
  readonly profile: readonly string[];
  readonly passive: boolean;
  readonly host_policy: string;
}

export interface ModelConfig {
  readonly name: string;
  readonly platform: string;
  readonly backend: string;
  readonly runtime: string;
  readonly version_policy: Readonly<Record<string, unknown>>;
  readonly max_batch_size: number;
  readonly input: readonly ModelInput[];
  readonly output: readonly ModelOutput[];
  readonly batch_input: readonly unknown[];
  readonly batch_output: readonly unknown[];
  readonly optimization?: Readonly<Record<string, unknown>>;
  readonly dynamic_batching?: DynamicBatching;
  readonly sequence_batching?: Readonly<Record<string, unknown>>;
  readonly ensemble_scheduling?: { readonly step: readonly EnsembleStep[]; readonly max_inflight_requests?: number };
  readonly instance_group: readonly InstanceGroup[];
  readonly default_model_filename: string;
  readonly cc_model_filenames: Readonly<Record<string, string>>;
  readonly metric_tags: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, { readonly string_value: string }>>;
  readonly model_warmup: readonly unknown[];
  readonly model_transaction_policy?: { readonly decoupled: boolean };
  readonly response_cache?: { readonly enable: boolean };
}

/** KServe name of a config data type. */
export function datatypeOf(type: DataTypeName): Datatype {
  return (type === 'TYPE_STRING' ? 'BYTES' : type.slice('TYPE_'.length)) as Datatype;
}
