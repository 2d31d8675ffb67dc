/** What the process tells its caller. */
export const EXIT = {
  /** All claims hold. */
  held: 0,
  /** A claim failed. */
  failed: 1,
  /** An upgrade that somebody has to read before it ships. */
  review: 3,
  /** The run could not be made: bad flags, no tokenizer, target unreachable, a suite that does not load. */
  impossible: 2,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;
