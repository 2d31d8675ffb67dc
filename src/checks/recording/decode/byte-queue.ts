/** Bytes that wait until there are enough of them. */
export class ByteQueue {
  #parts: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }

  /** The next `n` bytes, which stay; at most as many as there are. */
  peek(n: number): Buffer {
    const first = this.#parts[0];
    if (first !== undefined && (first.length >= n || this.#parts.length === 1)) return first.subarray(0, n);
    return this.#joined().subarray(0, n);
  }

  /** The next `n` bytes, which are gone then; at most as many as there are. */
  take(n: number): Buffer {
    const taken = this.peek(n);
    this.#length -= taken.length;
    let left = taken.length;
    while (left > 0) {
      const part = this.#parts[0]!;
      if (part.length > left) {
        this.#parts[0] = part.subarray(left);
        break;
      }
      left -= part.length;
      this.#parts.shift();
    }
    return taken;
  }

  takeAll(): Buffer {
    return this.take(this.#length);
  }

  /** Where these bytes begin, or -1. */
  indexOf(bytes: string): number {
    return this.#length === 0 ? -1 : this.#joined().indexOf(bytes, 0, 'latin1');
  }

  #joined(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? Buffer.alloc(0);
  }
}
