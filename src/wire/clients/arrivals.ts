/**
 * What a transport pushes and a reader pulls: an unbounded queue as an AsyncIterable for one reader. Leaving the loop
 * early calls `onLeave`, so that `break` reaches the server as a cancel.
 */
export class Arrivals<T> implements AsyncIterableIterator<T, undefined> {
  readonly #onLeave: () => void;
  #items: T[] = [];
  #next = 0;
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  #ended = false;
  #error: unknown;

  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  push(item: T): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: item });
    } else if (!this.#ended) {
      this.#items.push(item);
    }
  }

  /** After what was pushed the loop ends, or throws `error` when there is one. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) {
      if (error === undefined) waiting.resolve(DONE);
      else waiting.reject(this.#takeError());
    }
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#next < this.#items.length) {
      const value = this.#items[this.#next++] as T;
      if (this.#next === this.#items.length) {
        this.#items = [];
        this.#next = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) {
      return this.#error === undefined ? Promise.resolve(DONE) : Promise.reject(this.#takeError());
    }
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#items = [];
    this.#next = 0;
    this.#error = undefined;
    this.end();
    this.#onLeave();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeError(): unknown {
    const error = this.#error;
    this.#error = undefined;
    return error;
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
