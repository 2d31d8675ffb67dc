import { nowNs, wallClock } from '#core/clock/index.ts';
import type { CallEvent, CallTap } from '#wire/clients/index.ts';
import { headerOf } from './content.ts';
import type { FixtureEvent } from './types.ts';

/** Collects what this project's own client sees of the calls of one case. It costs the events, and the bytes stay in memory. */
export class CallRecorder {
  readonly beganAt = wallClock();
  /** One list per call, in the order in which they began. */
  readonly calls: FixtureEvent[][] = [];
  #bytes = 0;
  #dropped = false;

  /** Of messages and bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What was recorded is gone: there was too much of it. */
  get dropped(): boolean {
    return this.#dropped;
  }

  drop(): void {
    this.#dropped = true;
    this.calls.length = 0;
  }

  readonly tap = (): CallTap => {
    const events: FixtureEvent[] = [];
    this.calls.push(events);
    let startNs: number | undefined;
    let chunked = false;
    return (event) => {
      if (event.kind === 'response') chunked = headerOf(event.headers, 'transfer-encoding') === 'chunked';
      if ('bytes' in event) this.#bytes += event.bytes.length;
      const atNs = nowNs();
      startNs ??= atNs;
      events.push(told(event, Math.round(atNs - startNs), chunked));
    };
  };
}

function told(event: CallEvent, atNs: number, chunked: boolean): FixtureEvent {
  switch (event.kind) {
    case 'request':
      return { ...event, from: 'client', atNs };
    case 'response':
    case 'trailers':
      return { ...event, from: 'server', atNs };
    case 'body':
      return chunked && event.from === 'server' ? { ...event, kind: 'chunk', atNs } : { ...event, atNs };
    default:
      return { ...event, atNs };
  }
}
