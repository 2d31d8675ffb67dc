import type { Tensor } from '#wire/protocol/tensors.ts';
import type { Ask, Reading } from '../types.ts';

export interface Infer {
  readonly model: string;
  readonly inputs: readonly Tensor[];
  readonly id?: string;
  readonly version?: string;
  readonly outputs?: readonly string[];
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A ModelInferRequest as proto-loader takes it. */
export function inferMessage({ model, inputs, id = '', version = '', outputs = [], parameters = {} }: Infer): object {
  return {
    model_name: model,
    model_version: version,
    id,
    parameters,
    inputs: inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    outputs: outputs.map((name) => ({ name })),
    raw_input_contents: inputs.map(({ data }) => data),
  };
}

export const grpc = (rpc: string, message: object): Ask => ({ via: 'grpc', rpc, message });
export const infer = (request: Infer): Ask => grpc('ModelInfer', inferMessage(request));
export const stream = (...requests: readonly Infer[]): Ask => ({ via: 'stream', messages: requests.map(inferMessage) });
export const get = (path: string): Ask => ({ via: 'http', method: 'GET', path });
export const post = (path: string, body: object | string = {}, headers: Readonly<Record<string, string>> = {}): Ask => ({
  via: 'http',
  method: 'POST',
  path,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

export const ASKS_FOR_END = { triton_enable_empty_final_response: { bool_param: true } };

export type Row = readonly [id: string, ask: Ask, read?: Reading];
