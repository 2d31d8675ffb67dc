/** gRPC's messages in a stream of bytes: a flag, four bytes of length, the message (grpc/grpc doc/PROTOCOL-HTTP2.md). */
const HEAD_BYTES = 5;

export interface GrpcFrame {
  readonly bytes: Buffer;
  readonly compressed: boolean;
}

export function grpcFrame(bytes: Buffer, compressed: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = compressed ? 1 : 0;
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

export class GrpcFrames {
  #parts: Buffer[] = [];
  #length = 0;

  /** The messages that these bytes complete. */
  push(bytes: Buffer): GrpcFrame[] {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    const out: GrpcFrame[] = [];
    if (this.#length < this.#wanted()) return out;
    let all = Buffer.concat(this.#parts);
    while (all.length >= HEAD_BYTES && all.length >= HEAD_BYTES + all.readUInt32BE(1)) {
      const end = HEAD_BYTES + all.readUInt32BE(1);
      out.push({ bytes: all.subarray(HEAD_BYTES, end), compressed: all[0] !== 0 });
      all = all.subarray(end);
    }
    this.#parts = [all];
    this.#length = all.length;
    return out;
  }

  /** What has begun and is not whole. */
  rest(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #wanted(): number {
    const [first] = this.#parts;
    return first === undefined || first.length < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + first.readUInt32BE(1);
  }
}
