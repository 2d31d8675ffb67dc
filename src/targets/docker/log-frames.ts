/** A frame of an attached container's output: one byte of stream, three of zeros, four of length, then so many bytes. */
export interface LogFrame {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Buffer;
}

const HEAD_BYTES = 8;

/**
 * Cuts the engine's log stream into frames, whatever its chunk borders; what is left over at the end is no frame.
 *
 * dockerode's own demuxStream recurses per frame and overflows the stack at a few thousand small ones.
 */
export async function* logFrames(source: AsyncIterable<Buffer>): AsyncIterable<LogFrame> {
  let chunks: Buffer[] = [];
  let have = 0;
  let need = HEAD_BYTES;
  let stream: LogFrame['stream'] | undefined;
  for await (const chunk of source) {
    chunks.push(chunk);
    have += chunk.length;
    if (have < need) continue;
    const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    let at = 0;
    while (whole.length - at >= need) {
      const part = whole.subarray(at, at + need);
      at += need;
      if (stream === undefined) {
        stream = part[0] === 1 ? 'stdout' : 'stderr';
        need = part.readUInt32BE(4);
      } else {
        yield { stream, data: part };
        stream = undefined;
        need = HEAD_BYTES;
      }
    }
    chunks = at < whole.length ? [whole.subarray(at)] : [];
    have = whole.length - at;
  }
}
