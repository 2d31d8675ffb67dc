import { nowNs } from '#core/clock/index.ts';

/** How a step loop gives the event loop its turns, and how it is woken from a wait. */
export class Turns {
  #wake: (() => void) | undefined;
  #awake = false;

  /** After everything that is due now: sockets, timers, other loops. */
  next(): Promise<void> {
    return new Promise((resolve) => void setImmediate(resolve));
  }

  /** At `dueNs` (core/clock) or soon after; at once when that has passed or `wake` was called. */
  async waitUntil(dueNs: number): Promise<void> {
    while (!this.#awake) {
      const leftMs = (dueNs - nowNs()) / 1e6;
      if (!(leftMs > 0)) return;
      // Timers are whole milliseconds; the rest is spent in turns.
      if (leftMs < 1) await this.next();
      else await this.#sleep(Math.floor(leftMs));
    }
  }

  /** When `wake` is called. */
  woken(): Promise<void> {
    return this.#awake ? Promise.resolve() : new Promise((resolve) => void (this.#wake = resolve));
  }

  /** Ends the wait in progress and all later ones. */
  wake(): void {
    this.#awake = true;
    this.#wake?.();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
