import type { InferTensorContents } from '#wire/protocol/grpc-messages.ts';
import { type Datatype, encodeBytesElements } from '#wire/protocol/tensors.ts';
import { CoreError } from '../core/index.ts';

type Field = Exclude<keyof InferTensorContents, number>;

/** The one field that may carry a datatype; FP16 and BF16 have none (docs/observed.md#triton-2-51). */
const FIELD: Readonly<Partial<Record<Datatype, Field>>> = {
  BOOL: 'bool_contents',
  UINT8: 'uint_contents',
  UINT16: 'uint_contents',
  UINT32: 'uint_contents',
  UINT64: 'uint64_contents',
  INT8: 'int_contents',
  INT16: 'int_contents',
  INT32: 'int_contents',
  INT64: 'int64_contents',
  FP32: 'fp32_contents',
  FP64: 'fp64_contents',
  BYTES: 'bytes_contents',
};

/** What a filled field stands for in the error text about a wrong one. */
const FIELD_DATATYPE: Readonly<Record<Field, string>> = {
  bool_contents: 'BOOL',
  int_contents: 'INT32',
  int64_contents: 'INT64',
  uint_contents: 'UINT32',
  uint64_contents: 'UINT64',
  fp32_contents: 'FP32',
  fp64_contents: 'FP64',
  bytes_contents: 'BYTES',
};

/** Typed elements → raw little-endian bytes. Errors: INVALID_ARG when another datatype's field is filled. */
export function rawContents(contents: InferTensorContents, input: string, datatype: Datatype, model: string): Uint8Array {
  const wanted = FIELD[datatype];
  for (const field of Object.keys(FIELD_DATATYPE) as Field[]) {
    if (field === wanted || contents[field].length === 0) continue;
    throw new CoreError(
      'INVALID_ARG',
      `unexpected explicit tensor data for input tensor '${input}' for model '${model}' of type '${FIELD_DATATYPE[field]}', expected datatype '${datatype}'`,
    );
  }
  switch (datatype) {
    case 'BOOL':
      return Uint8Array.from(contents.bool_contents, (v) => (v ? 1 : 0));
    case 'UINT8':
      return Uint8Array.from(contents.uint_contents);
    case 'INT8':
      return bytesOf(Int8Array.from(contents.int_contents));
    case 'UINT16':
      return bytesOf(Uint16Array.from(contents.uint_contents));
    case 'INT16':
      return bytesOf(Int16Array.from(contents.int_contents));
    case 'UINT32':
      return bytesOf(Uint32Array.from(contents.uint_contents));
    case 'INT32':
      return bytesOf(Int32Array.from(contents.int_contents));
    case 'UINT64':
      return bytesOf(BigUint64Array.from(contents.uint64_contents, BigInt));
    case 'INT64':
      return bytesOf(BigInt64Array.from(contents.int64_contents, BigInt));
    case 'FP32':
      return bytesOf(Float32Array.from(contents.fp32_contents));
    case 'FP64':
      return bytesOf(Float64Array.from(contents.fp64_contents));
    case 'BYTES':
      return encodeBytesElements(contents.bytes_contents);
    default:
      throw new CoreError('INVALID_ARG', `unable to find data for input tensor '${input}' for model '${model}' in request.`);
  }
}

function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
