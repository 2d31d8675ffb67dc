/** Shapes of the messages that `service.ts` decodes: proto-loader's output with its fixed options. */

export interface InferParameter {
  readonly parameter_choice?: 'bool_param' | 'int64_param' | 'string_param' | 'double_param' | 'uint64_param';
  readonly bool_param?: boolean;
  readonly int64_param?: string;
  readonly string_param?: string;
  readonly double_param?: number;
  readonly uint64_param?: string;
}

export interface InferTensorContents {
  readonly bool_contents: readonly boolean[];
  readonly int_contents: readonly number[];
  readonly int64_contents: readonly string[];
  readonly uint_contents: readonly number[];
  readonly uint64_contents: readonly string[];
  readonly fp32_contents: readonly number[];
  readonly fp64_contents: readonly number[];
  readonly bytes_contents: readonly Uint8Array[];
}

export interface InferInputTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly string[];
  readonly parameters: Readonly<Record<string, InferParameter>>;
  readonly contents: InferTensorContents | null;
}

export interface InferRequestedOutputTensor {
  readonly name: string;
  readonly parameters: Readonly<Record<string, InferParameter>>;
}

export interface ModelInferRequest {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly parameters: Readonly<Record<string, InferParameter>>;
  readonly inputs: readonly InferInputTensor[];
  readonly outputs: readonly InferRequestedOutputTensor[];
  readonly raw_input_contents: readonly Uint8Array[];
}

export interface InferOutputTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly string[];
  readonly parameters: Readonly<Record<string, InferParameter>>;
}

export interface ModelInferResponse {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly parameters: Readonly<Record<string, InferParameter>>;
  readonly outputs: readonly InferOutputTensor[];
  readonly raw_output_contents: readonly Uint8Array[];
}

export interface ModelStreamInferResponse {
  readonly error_message: string;
  readonly infer_response: ModelInferResponse | null;
}
