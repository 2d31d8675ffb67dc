/** Header blocks of HTTP/2 → headers. Source: RFC 7541. */
import type { Headers } from '../types.ts';
import { unhuffman } from './huffman.ts';

type Field = readonly [name: string, value: string];

/** Appendix A: name, and value where there is one. */
const STATIC: readonly Field[] = (
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|:status=206|' +
  ':status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|' +
  'access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|content-language|' +
  'content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|' +
  'if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|' +
  'referer|refresh|retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'
)
  .split('|')
  .map((entry) => [entry.split('=', 1)[0]!, entry.slice(entry.split('=', 1)[0]!.length + 1)]);

/** An entry counts so much more than its characters (section 4.1). */
const OVERHEAD = 32;
/** What this side keeps at most, whatever a peer says: it is the memory of the encoder that matters, and gRPC's have 4 to 64 KB. */
const LARGEST_TABLE = 16 * 1024 * 1024;
const DEFAULT_TABLE = 4096;

/** One direction of one connection. */
export class HpackDecoder {
  #entries: Field[] = [];
  #size = 0;
  #limit = DEFAULT_TABLE;

  /** Undefined: the block is none, and no later one of this direction can be read. */
  decode(block: Uint8Array): Headers | undefined {
    try {
      return this.#decode(new Reader(block));
    } catch {
      return undefined;
    }
  }

  #decode(reader: Reader): Headers {
    const headers: Field[] = [];
    while (!reader.done) {
      const first = reader.peek();
      if (first & 0x80) headers.push(this.#at(reader.integer(7)));
      else if ((first & 0xe0) === 0x20) this.#resize(reader.integer(5));
      else {
        const kept = (first & 0x40) !== 0;
        const index = reader.integer(kept ? 6 : 4);
        const name = index === 0 ? reader.string() : this.#at(index)[0];
        const field: Field = [name, reader.string()];
        headers.push(field);
        if (kept) this.#add(field);
      }
    }
    return headers;
  }

  #at(index: number): Field {
    const field = index === 0 ? undefined : (STATIC[index - 1] ?? this.#entries[index - 1 - STATIC.length]);
    if (field === undefined) throw new RangeError('an index of no entry');
    return field;
  }

  #add(field: Field): void {
    this.#entries.unshift(field);
    this.#size += sizeOf(field);
    this.#evict();
  }

  #resize(limit: number): void {
    if (limit > LARGEST_TABLE) throw new RangeError('a table that large');
    this.#limit = limit;
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#limit) this.#size -= sizeOf(this.#entries.pop()!);
  }
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + OVERHEAD;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  peek(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new RangeError('the block ends early');
    return byte;
  }

  /** An integer whose first byte has `bits` bits for it (section 5.1). */
  integer(bits: number): number {
    const full = 2 ** bits - 1;
    let value = this.peek() & full;
    this.#at++;
    if (value < full) return value;
    for (let shift = 0; ; shift += 7) {
      if (shift > 28) throw new RangeError('an integer that large');
      const byte = this.peek();
      this.#at++;
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
  }

  /** One character per byte. */
  string(): string {
    const packed = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    if (this.#at + length > this.#bytes.length) throw new RangeError('the block ends early');
    const bytes = this.#bytes.subarray(this.#at, (this.#at += length));
    const text = packed ? unhuffman(bytes) : Buffer.from(bytes);
    if (text === undefined) throw new RangeError('a string that is no Huffman code');
    return text.toString('latin1');
  }
}
