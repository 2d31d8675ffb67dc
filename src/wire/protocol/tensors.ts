/** Tensor data as KServe v2 carries it: datatype names, element sizes, raw little-endian encoding. */
import { LockstepError } from '#core/errors/index.ts';

export type Datatype =
  | 'BOOL'
  | 'UINT8'
  | 'UINT16'
  | 'UINT32'
  | 'UINT64'
  | 'INT8'
  | 'INT16'
  | 'INT32'
  | 'INT64'
  | 'FP16'
  | 'BF16'
  | 'FP32'
  | 'FP64'
  | 'BYTES';

/** Bytes per element; 0 for BYTES, whose elements carry their own length. Source: KServe v2, and proto/README.md. */
export const ELEMENT_SIZE: Readonly<Record<Datatype, number>> = {
  BOOL: 1,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FP16: 2,
  BF16: 2,
  FP32: 4,
  FP64: 8,
  BYTES: 0,
};

export interface Tensor {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  /** Little-endian elements, row-major; BYTES: uint32 length then the bytes, per element. */
  readonly data: Uint8Array;
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((n, d) => n * d, 1);
}

export function int32Tensor(name: string, shape: readonly number[], values: ArrayLike<number>): Tensor {
  return { name, datatype: 'INT32', shape, data: bytesOf(Int32Array.from(values)) };
}

export function fp32Tensor(name: string, shape: readonly number[], values: ArrayLike<number>): Tensor {
  return { name, datatype: 'FP32', shape, data: bytesOf(Float32Array.from(values)) };
}

export function uint64Tensor(name: string, shape: readonly number[], values: readonly bigint[]): Tensor {
  return { name, datatype: 'UINT64', shape, data: bytesOf(BigUint64Array.from(values)) };
}

export function int64Tensor(name: string, shape: readonly number[], values: readonly bigint[]): Tensor {
  return { name, datatype: 'INT64', shape, data: bytesOf(BigInt64Array.from(values)) };
}

export function boolTensor(name: string, shape: readonly number[], values: readonly boolean[]): Tensor {
  return { name, datatype: 'BOOL', shape, data: Uint8Array.from(values, (v) => (v ? 1 : 0)) };
}

export function bytesTensor(name: string, shape: readonly number[], values: readonly (string | Uint8Array)[]): Tensor {
  return { name, datatype: 'BYTES', shape, data: encodeBytesElements(values) };
}

export function encodeBytesElements(values: readonly (string | Uint8Array)[]): Uint8Array {
  const parts = values.map((v) => (typeof v === 'string' ? Buffer.from(v, 'utf8') : v));
  const out = Buffer.alloc(parts.reduce((n, p) => n + 4 + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.writeUInt32LE(part.length, at);
    out.set(part, at + 4);
    at += 4 + part.length;
  }
  return out;
}

/** Elements of a BYTES tensor. Errors: `tensor-malformed`. */
export function decodeBytesElements(data: Uint8Array): Uint8Array[] {
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const out: Uint8Array[] = [];
  for (let at = 0; at < view.length;) {
    const length = at + 4 <= view.length ? view.readUInt32LE(at) : Number.NaN;
    if (!(at + 4 + length <= view.length)) {
      throw new LockstepError('tensor-malformed', `BYTES element ${out.length} at byte ${at} runs past the end (${view.length} bytes)`, {
        hint: 'Report this server or model: each element is 4 bytes of length, little-endian, and as many bytes of data.',
      });
    }
    out.push(view.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return out;
}

/** INT32 elements; copies when the bytes are not aligned. */
export function int32Values(data: Uint8Array): Int32Array {
  return data.byteOffset % 4 === 0
    ? new Int32Array(data.buffer, data.byteOffset, data.byteLength >> 2)
    : new Int32Array(copyOf(data), 0, data.byteLength >> 2);
}

export function fp32Values(data: Uint8Array): Float32Array {
  return data.byteOffset % 4 === 0
    ? new Float32Array(data.buffer, data.byteOffset, data.byteLength >> 2)
    : new Float32Array(copyOf(data), 0, data.byteLength >> 2);
}

/** Not `slice`: a Buffer's slice is a view of the same memory, at the same odd offset. */
function copyOf(data: Uint8Array): ArrayBuffer {
  return new Uint8Array(data).buffer;
}

function bytesOf(array: Int32Array | Float32Array | BigInt64Array | BigUint64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
