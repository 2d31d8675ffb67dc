/** What the decoders of a connection share. Times in their events are those of the taps, not yet of the exchange. */
import type { FixtureEvent, FixtureProtocol, Side } from '../types.ts';

/** One exchange that runs. */
export interface OpenExchange {
  add(event: FixtureEvent): void;
  /** It is over: nothing more comes. */
  over(): void;
}

export type BeginExchange = (protocol: FixtureProtocol) => OpenExchange;

/** The bytes of one connection, in the order in which they came. */
export interface ConnectionDecoder {
  bytes(from: Side, atNs: number, bytes: Buffer): void;
  /** One side sends no more. */
  end(from: Side, atNs: number): void;
  reset(from: Side, atNs: number, code: string): void;
  /** Nothing comes any more: exchanges that still run are over. */
  closed(atNs: number): void;
}
