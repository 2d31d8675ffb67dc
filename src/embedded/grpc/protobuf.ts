/**
 * Just enough of the protobuf wire format to write infer responses. A streamed token is one small message; proto-loader
 * converts it through two object trees, this writes it once.
 */

/** Bytes of an unsigned varint. */
export function varintSize(value: number): number {
  let size = 1;
  for (let v = value; v > 127; v = Math.floor(v / 128)) size++;
  return size;
}

/** Writes an unsigned varint (exact up to 2^53) and returns the position behind it. */
export function writeVarint(out: Uint8Array, at: number, value: number): number {
  let v = value;
  while (v > 127) {
    out[at++] = (v % 128) | 128;
    v = Math.floor(v / 128);
  }
  out[at++] = v;
  return at;
}

/** A length-delimited field: tag (field < 16), length, bytes. */
export function bytesField(field: number, bytes: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(1 + varintSize(bytes.length) + bytes.length);
  out[0] = (field << 3) | 2;
  out.set(bytes, writeVarint(out, 1, bytes.length));
  return out;
}

/** A string field; nothing for the empty string, proto3's default. */
export function stringField(field: number, text: string): Buffer {
  return text === '' ? EMPTY : bytesField(field, Buffer.from(text, 'utf8'));
}

/** A varint field of a signed 64-bit value; negative numbers take ten bytes. */
export function int64Field(field: number, value: bigint): Buffer {
  let v = BigInt.asUintN(64, value);
  const out = [field << 3];
  for (; v > 127n; v >>= 7n) out.push(Number(v & 127n) | 128);
  out.push(Number(v));
  return Buffer.from(out);
}

export const EMPTY: Buffer = Buffer.alloc(0);
