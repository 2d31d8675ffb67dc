/** Monotonic time. Everything that is timed in this project goes through here. */

/** Nanoseconds since the process started, monotonic, as a double (exact to the nanosecond for 104 days). */
export function nowNs(): number {
  return performance.now() * 1e6;
}

/** Wall-clock time of this moment as ISO 8601 in UTC, for provenance only; never for durations. */
export function wallClock(): string {
  return new Date().toISOString();
}
