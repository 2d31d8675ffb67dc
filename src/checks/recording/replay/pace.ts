import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import type { FixtureEvent } from '../types.ts';

/**
 * When the events of a recording are due: as long after what the client did as they were then, divided by the speed.
 * With speed Infinity at once.
 */
export class Pace {
  readonly #speed: number;
  #nowNs = nowNs();
  #recordedNs: number;

  constructor(speed: number, recordedNs: number) {
    this.#speed = speed;
    this.#recordedNs = recordedNs;
  }

  /** The client has just done what stands in this event: what follows counts from here. */
  did(event: FixtureEvent): void {
    this.#nowNs = nowNs();
    this.#recordedNs = event.atNs;
  }

  /** Rejects with the signal's reason. */
  async due(event: FixtureEvent, signal: AbortSignal): Promise<void> {
    const dueNs = this.#nowNs + (event.atNs - this.#recordedNs) / this.#speed;
    const ms = (dueNs - nowNs()) / 1e6;
    // A timer that is set for less ends later than nothing at all.
    if (ms >= 0.5) await sleep(ms, signal);
    signal.throwIfAborted();
  }
}
