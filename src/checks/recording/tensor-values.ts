/** The elements of a tensor as JSON values, and back. What JSON has no number for is a string: NaN, -0, integers above 2^53. */
import { ELEMENT_SIZE, type Datatype, decodeBytesElements, encodeBytesElements } from '#wire/protocol/tensors.ts';
import { bytesOfText, textOfBytes } from '#wire/protocol/escaped-bytes.ts';

export type ElementValue = number | string | boolean;

interface Kind {
  readonly read: (view: DataView, at: number) => number | bigint | boolean;
  readonly write: (view: DataView, at: number, value: ElementValue) => void;
  /** The least digits that tell two neighbours apart, for fractions. */
  readonly rounded?: (value: number) => number;
}

const bf16 = new DataView(new ArrayBuffer(4));

const KINDS: Readonly<Record<Exclude<Datatype, 'BYTES'>, Kind>> = {
  BOOL: { read: (v, at) => v.getUint8(at) !== 0, write: (v, at, x) => v.setUint8(at, x === true ? 1 : 0) },
  UINT8: { read: (v, at) => v.getUint8(at), write: (v, at, x) => v.setUint8(at, Number(x)) },
  UINT16: { read: (v, at) => v.getUint16(at, true), write: (v, at, x) => v.setUint16(at, Number(x), true) },
  UINT32: { read: (v, at) => v.getUint32(at, true), write: (v, at, x) => v.setUint32(at, Number(x), true) },
  UINT64: { read: (v, at) => v.getBigUint64(at, true), write: (v, at, x) => v.setBigUint64(at, BigInt(x), true) },
  INT8: { read: (v, at) => v.getInt8(at), write: (v, at, x) => v.setInt8(at, Number(x)) },
  INT16: { read: (v, at) => v.getInt16(at, true), write: (v, at, x) => v.setInt16(at, Number(x), true) },
  INT32: { read: (v, at) => v.getInt32(at, true), write: (v, at, x) => v.setInt32(at, Number(x), true) },
  INT64: { read: (v, at) => v.getBigInt64(at, true), write: (v, at, x) => v.setBigInt64(at, BigInt(x), true) },
  FP16: {
    read: (v, at) => v.getFloat16(at, true),
    write: (v, at, x) => v.setFloat16(at, Number(x), true),
    rounded: (x) => Math.f16round(x),
  },
  BF16: {
    read: (v, at) => bf16Of(v.getUint16(at, true)),
    write: (v, at, x) => v.setUint16(at, bitsOfBf16(Number(x)), true),
    rounded: (x) => bf16Of(bitsOfBf16(x)),
  },
  FP32: {
    read: (v, at) => v.getFloat32(at, true),
    write: (v, at, x) => v.setFloat32(at, Number(x), true),
    rounded: (x) => Math.fround(x),
  },
  FP64: { read: (v, at) => v.getFloat64(at, true), write: (v, at, x) => v.setFloat64(at, Number(x), true) },
};

/** Undefined when the bytes are no whole elements of that type, or the type is none of Triton's. */
export function elementValues(datatype: string, data: Uint8Array): ElementValue[] | undefined {
  if (datatype === 'BYTES') {
    try {
      return decodeBytesElements(data).map((element) => textOfBytes(Buffer.from(element.buffer, element.byteOffset, element.byteLength)));
    } catch {
      return undefined;
    }
  }
  if (!Object.hasOwn(KINDS, datatype)) return undefined;
  const kind = KINDS[datatype as keyof typeof KINDS];
  const size = ELEMENT_SIZE[datatype as Datatype];
  if (data.length % size !== 0) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const values: ElementValue[] = [];
  for (let at = 0; at < data.length; at += size) values.push(shown(kind.read(view, at), kind.rounded));
  return values;
}

/** The bytes of elements as `elementValues` gives them; undefined when they are none. */
export function elementBytes(datatype: string, values: readonly ElementValue[]): Buffer | undefined {
  if (datatype === 'BYTES') return Buffer.from(encodeBytesElements(values.map((value) => bytesOfText(String(value)))));
  if (!Object.hasOwn(KINDS, datatype)) return undefined;
  const kind = KINDS[datatype as keyof typeof KINDS];
  const size = ELEMENT_SIZE[datatype as Datatype];
  const out = Buffer.alloc(values.length * size);
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  try {
    for (const [i, value] of values.entries()) kind.write(view, i * size, value);
  } catch {
    // No whole number where one is wanted.
    return undefined;
  }
  return out;
}

function shown(value: number | bigint | boolean, rounded: Kind['rounded']): ElementValue {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return '-0';
  if (rounded === undefined || Number.isInteger(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (rounded(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

function bf16Of(bits: number): number {
  bf16.setUint32(0, bits << 16);
  return bf16.getFloat32(0);
}

/** Round to nearest, ties to even, as the rounding of the lower half of a float32. */
function bitsOfBf16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  bf16.setFloat32(0, value);
  const bits = bf16.getUint32(0);
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
