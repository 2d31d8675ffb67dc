/** Ids of trtllm-serve: a prefix and 32 hex digits, as uuid4().hex. */
import { wallClockMs } from '#core/clock/index.ts';
import { sha256 } from '#core/hash/index.ts';

let made = 0;

/** Unique among processes and within this one. */
export function hexId(prefix: string): string {
  return `${prefix}-${sha256(`${process.pid} ${wallClockMs()} ${made++}`).slice(0, 32)}`;
}

/** Seconds since 1970, as `created` has them. */
export function createdNow(): number {
  return Math.floor(wallClockMs() / 1000);
}
