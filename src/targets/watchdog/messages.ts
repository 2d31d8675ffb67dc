/** Lines from the runner to its watchdog. */
import type { ProcessRow } from '../host/index.ts';

/** What has to go when the runner is gone. */
export interface Cleanup {
  readonly pids?: readonly number[];
  /** Processes whose command line holds this text; for children that are not known yet. At least 8 characters. */
  readonly marks?: readonly string[];
  /** Absolute; the last part begins with `lockstep`. */
  readonly dirs?: readonly string[];
  /** Names in /dev/shm that begin so. At least 8 characters. */
  readonly shmPrefixes?: readonly string[];
  /** Containers with a label, as `lockstep.run=<run>`, on the engine behind a socket. */
  readonly containers?: { readonly socket: string; readonly label: string };
  /** Slurm's jobs of this name; at least 8 characters. Their folders, among `dirs`, go after them. */
  readonly jobs?: { readonly name: string };
  /** The clocks of this host's GPUs, which this run locked. */
  readonly gpuClocks?: true;
}

export type WatchdogMessage =
  /** `family`: the registered processes and their descendants, as they were at that moment. */
  | { readonly kind: 'add'; readonly id: number; readonly cleanup: Cleanup; readonly family: readonly ProcessRow[] }
  | { readonly kind: 'release'; readonly id: number };
