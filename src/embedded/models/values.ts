/** Reading and making tensors inside the models. */
import {
  boolTensor,
  bytesTensor,
  decodeBytesElements,
  fp32Tensor,
  fp32Values,
  int32Tensor,
  int32Values,
  int64Tensor,
  uint64Tensor,
} from '#wire/protocol/tensors.ts';
import type { CoreTensor, ModelRequest } from '../core/index.ts';

export { boolTensor, bytesTensor, decodeBytesElements, fp32Tensor, fp32Values, int32Tensor, int32Values, int64Tensor, uint64Tensor };

export function optional(request: ModelRequest, name: string): CoreTensor | undefined {
  return request.inputs.get(name);
}

export function int32At(request: ModelRequest, name: string, row: number): number | undefined {
  const tensor = request.inputs.get(name);
  return tensor === undefined ? undefined : int32Values(tensor.data)[row];
}

export function fp32At(request: ModelRequest, name: string, row: number): number | undefined {
  const tensor = request.inputs.get(name);
  return tensor === undefined ? undefined : fp32Values(tensor.data)[row];
}

export function boolAt(request: ModelRequest, name: string, row: number): boolean {
  return (request.inputs.get(name)?.data[row] ?? 0) !== 0;
}

export function uint64At(request: ModelRequest, name: string, row: number): bigint | undefined {
  const tensor = request.inputs.get(name);
  if (tensor === undefined) return undefined;
  return new DataView(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength).getBigUint64(row * 8, true);
}

/** Value of a config parameter; an unfilled `${…}` counts as unset. */
export function parameterOf(
  config: { readonly parameters: Readonly<Record<string, { readonly string_value: string }>> },
  name: string,
): string | undefined {
  const value = config.parameters[name]?.string_value;
  return value === undefined || value === '' || value.startsWith('${') ? undefined : value;
}

/** 1, t, y, yes, true in any case; 0, f, n, no, false likewise; anything else, and nothing, is the fallback. */
export function flagOf(text: string | undefined, fallback: boolean): boolean {
  if (text === undefined) return fallback;
  return /^(true|1|t|y|yes)$/i.test(text.trim()) || (fallback && !/^(false|0|f|n|no)$/i.test(text.trim()));
}
