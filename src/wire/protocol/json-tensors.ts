/**
 * Tensor data between the raw encoding and JSON's `data`. FP16 and BF16 have no JSON form. Texts and leniency as in
 * triton-inference-server/server src/http_server.cc (2.51), ReadDataFromJson and WriteDataToJson.
 */
import { bytesOfText } from './escaped-bytes.ts';
import type { JsonValue, WritableJson } from './json-value.ts';
import { decodeBytesElements, type Datatype, ELEMENT_SIZE, elementCount, encodeBytesElements } from './tensors.ts';

/** `kind` tells what Triton would call it: a wrong request, or (for JSON of the wrong type) its own failure. */
export class JsonTensorError extends Error {
  readonly kind: 'invalid' | 'internal';
  constructor(kind: 'invalid' | 'internal', message: string) {
    super(message);
    this.kind = kind;
  }
}

const SHAPE_MISMATCH = "Unable to parse 'data': Shape does not match true shape of 'data' field";

/**
 * `data` of one input, nested or flat, to raw bytes. Integers that do not fit wrap silently, as the server's casts do
 * (docs/observed.md#triton-2-51: 3000000000 for INT32 arrives as -1294967296). Errors: JsonTensorError.
 *
 * @param count elements that the shape asks for; ignored for BYTES, whose count the server does not check here
 */
export function jsonToTensorData(name: string, datatype: Datatype | '<invalid>', data: JsonValue, count: number): Uint8Array {
  if (datatype === 'FP16' || datatype === 'BF16') {
    throw new JsonTensorError(
      'invalid',
      `receiving ${datatype} data via JSON is not supported. Please use the binary data format for input ${name}`,
    );
  }
  if (datatype === '<invalid>') throw new JsonTensorError('invalid', `invalid datatype for input ${name}`);
  if (datatype === 'BYTES') return encodeBytesElements(flat(data).map(bytesElement));
  const size = ELEMENT_SIZE[datatype];
  const out = Buffer.alloc(size * count);
  let at = 0;
  for (const element of flat(data)) {
    if (at >= out.length) throw new JsonTensorError('internal', SHAPE_MISMATCH);
    writeElement(out, at, datatype, element);
    at += size;
  }
  if (at !== out.length) throw new JsonTensorError('internal', SHAPE_MISMATCH);
  return out;
}

/** Elements of an output in row-major order, ready for writeJson; FP32 widened to double. Errors: JsonTensorError. */
export function tensorDataToJson(name: string, datatype: Datatype, shape: readonly number[], data: Uint8Array): WritableJson[] {
  if (datatype === 'FP16' || datatype === 'BF16') {
    throw new JsonTensorError(
      'invalid',
      `sending ${datatype} data via JSON is not supported. Please use the binary data format for output`,
    );
  }
  const count = elementCount(shape);
  if (datatype === 'BYTES') {
    const elements = decodeBytesElements(data);
    if (elements.length < count) throw wrongSize(name);
    return elements.slice(0, count);
  }
  const size = ELEMENT_SIZE[datatype];
  if (data.byteLength !== size * count) throw wrongSize(name);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: count }, (_, i) => readElement(view, i * size, datatype));
}

function wrongSize(name: string): JsonTensorError {
  return new JsonTensorError('internal', `output tensor shape does not match size of output for '${name}'`);
}

function flat(data: JsonValue): JsonValue[] {
  return Array.isArray(data) ? (data as readonly JsonValue[]).flatMap(flat) : [data];
}

function bytesElement(value: JsonValue): Uint8Array {
  if (typeof value !== 'string')
    throw new JsonTensorError('internal', 'Unable to parse JSON bytes array: attempt to access JSON non-string as string');
  return bytesOfText(value);
}

function wrongType(is: string): JsonTensorError {
  return new JsonTensorError('internal', `Unable to parse 'data': attempt to access JSON non-${is} as ${is}`);
}

type JsonNumeric = Exclude<Datatype, 'BYTES' | 'FP16' | 'BF16'>;

function writeElement(out: Buffer, at: number, datatype: JsonNumeric, value: JsonValue): void {
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  switch (datatype) {
    case 'BOOL':
      if (typeof value !== 'boolean') throw wrongType('boolean');
      view.setUint8(at, value ? 1 : 0);
      return;
    case 'FP32':
    case 'FP64': {
      if (typeof value !== 'number' && typeof value !== 'bigint')
        throw new JsonTensorError('internal', "Unable to parse 'data': attempt to access JSON non-number as double");
      if (datatype === 'FP32') view.setFloat32(at, Number(value), true);
      else view.setFloat64(at, Number(value), true);
      return;
    }
    default: {
      const unsigned = datatype.startsWith('U');
      if (typeof value !== 'bigint' || (unsigned ? value < 0n : value > 9223372036854775807n))
        throw wrongType(unsigned ? 'unsigned-integer' : 'signed-integer');
      const bits = BigInt.asUintN(8 * ELEMENT_SIZE[datatype], value);
      for (let i = 0; i < ELEMENT_SIZE[datatype]; i++) view.setUint8(at + i, Number((bits >> BigInt(8 * i)) & 255n));
    }
  }
}

function readElement(view: DataView, at: number, datatype: JsonNumeric): WritableJson {
  switch (datatype) {
    case 'BOOL':
      return view.getUint8(at) !== 0;
    case 'UINT8':
      return BigInt(view.getUint8(at));
    case 'UINT16':
      return BigInt(view.getUint16(at, true));
    case 'UINT32':
      return BigInt(view.getUint32(at, true));
    case 'UINT64':
      return view.getBigUint64(at, true);
    case 'INT8':
      return BigInt(view.getInt8(at));
    case 'INT16':
      return BigInt(view.getInt16(at, true));
    case 'INT32':
      return BigInt(view.getInt32(at, true));
    case 'INT64':
      return view.getBigInt64(at, true);
    case 'FP32':
      return view.getFloat32(at, true);
    case 'FP64':
      return view.getFloat64(at, true);
  }
}
