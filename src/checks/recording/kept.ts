import type { CallRecorder } from './call-recorder.ts';

/** Messages with logits of a large vocabulary are megabytes each, and only a claim's end tells whose exchange is needed. */
const KEPT_BYTES = 256 * 1024 * 1024;

/** What recorders of a process hold together: beyond the limit the oldest are emptied. Those that nobody needs any more go by themselves. */
export class KeptExchanges {
  readonly #limit: number;
  #entries: { readonly recorder: WeakRef<CallRecorder>; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(limit = KEPT_BYTES) {
    this.#limit = limit;
  }

  /** An exchange that is over. */
  add(recorder: CallRecorder): void {
    this.#entries.push({ recorder: new WeakRef(recorder), bytes: recorder.bytes });
    this.#bytes += recorder.bytes;
    if (this.#bytes <= this.#limit) return;
    this.#entries = this.#entries.filter((entry) => entry.recorder.deref() !== undefined);
    this.#bytes = this.#entries.reduce((sum, { bytes }) => sum + bytes, 0);
    while (this.#bytes > this.#limit) {
      const oldest = this.#entries.shift()!;
      this.#bytes -= oldest.bytes;
      oldest.recorder.deref()?.drop();
    }
  }
}
