/** Version-1 UUIDs: ids of this front end are `cmpl-` and a uuid1 (docs/observed.md#openai-front-end-r25-12). */
import { wallClockMs } from '#core/clock/index.ts';

/** 100 ns steps between 1582-10-15 and 1970-01-01. Source: RFC 9562, section 5.1. */
const GREGORIAN_TICKS = 122192928000000000n;
let last = 0n;

/** Unique within the process: two in the same millisecond differ by one tick. */
export function uuid1(): string {
  const now = BigInt(wallClockMs()) * 10000n + GREGORIAN_TICKS;
  last = now > last ? now : last + 1n;
  const hex = last.toString(16).padStart(15, '0');
  const node = `02fc${process.pid.toString(16).padStart(8, '0').slice(-8)}`;
  return `${hex.slice(7)}-${hex.slice(3, 7)}-1${hex.slice(0, 3)}-8bfd-${node}`;
}
