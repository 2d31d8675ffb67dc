/** What the routes need from the clients; each protocol has its own folder with the same file names. */
import type { CallTap } from './tap.ts';
import type { Tensor } from '#wire/protocol/tensors.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs: number;
  /** Asked once per inference call, and then told what passes on it; other calls are not told. */
  readonly tap?: (() => CallTap) | undefined;
}

export interface InferRequest {
  readonly model: string;
  /** Absent: the latest. */
  readonly version?: string;
  /** '' = none. */
  readonly id: string;
  readonly inputs: readonly Tensor[];
  /** Absent: all outputs. */
  readonly outputs?: readonly string[];
  /** On gRPC a bigint or a whole number goes as int64_param, any other number as double_param. */
  readonly parameters?: Readonly<Record<string, boolean | number | bigint | string>>;
}

/** One message of a response stream. */
export interface InferMessage {
  readonly id: string;
  readonly modelName: string;
  readonly modelVersion: string;
  readonly outputs: readonly Tensor[];
  /** Response parameters, triton_final_response left out: it is `final`. */
  readonly parameters: ReadonlyMap<string, boolean | number | bigint | string>;
  /** triton_final_response, or undefined when the message did not carry it. */
  readonly final: boolean | undefined;
  /** In-band error text, or undefined. */
  readonly errorMessage: string | undefined;
}
