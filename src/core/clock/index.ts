/** Monotonic time. Everything that is timed in this project goes through here. */

/** Nanoseconds since the process started, monotonic, as a double (exact to the nanosecond for 104 days). */
export function nowNs(): number {
  return performance.now() * 1e6;
}

/** Milliseconds since 1970: where a protocol wants a moment (gRPC deadlines); never for durations. */
export function wallClockMs(): number {
  return Date.now();
}

/** Wall-clock time of this moment as ISO 8601 in UTC, for provenance only; never for durations. */
export function wallClock(): string {
  return new Date().toISOString();
}
