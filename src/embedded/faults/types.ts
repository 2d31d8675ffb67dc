/** One deliberate defect of the embedded server. */
export interface Fault {
  /** The row of the fault catalogue (docs/faults.md) that it is named after. */
  readonly id: string;
  readonly class: string;
  /** What is broken, and how: the mechanism, not the symptom. */
  readonly mechanism: string;
  readonly thread: string;
  /** The release profile under which it shows, where the default release hides it behind a known gap or has no such front end. */
  readonly profile?: string;
  /** The checkpoint on which it shows, a folder of docker/checkpoint, where the default one has nothing for it to break. */
  readonly checkpoint?: 'tiny-spm';
  /** The law by which the suite must find it, then others that it breaks. */
  readonly caughtBy: readonly [string, ...string[]];
}
