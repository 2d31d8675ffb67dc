import type { ClientEndpoints } from '#wire/clients/index.ts';

/** A server under test and how it came to run. */
export type TargetKind = 'embedded' | 'process' | 'docker' | 'slurm' | 'external' | 'openai';

/** Where it listens, and how one gets in. */
export type Endpoints = ClientEndpoints;

export interface Health {
  readonly alive: boolean;
  /** What died and how (exit code, signal, last log lines), or ''. */
  readonly detail: string;
  /** It answers no more and its process is still there: it may be writing its stack, and its end will say more. */
  readonly ending?: true;
}

/** A process of the target, so that whoever cannot hold the target itself can still look whether it lives. */
export interface ProcessRef {
  readonly name: string;
  /** Undefined where it cannot be seen from here: a container whose engine runs in a machine of its own. Then `lastWords` alone tells. */
  readonly pid: number | undefined;
  /** Start time in clock ticks since boot: with the pid it names a process for good. Undefined where there is no /proc. */
  readonly startTicks: number | undefined;
  /** File with its end and its last log lines, kept by the process that started it (last-words.ts). */
  readonly lastWords?: string;
}

export interface Target extends AsyncDisposable {
  readonly kind: TargetKind;
  readonly endpoints: Endpoints;
  /** Everything that could change an answer; unknown values are the word "unknown". */
  readonly identity: Readonly<Record<string, string>>;
  /** Looks at the process behind the replies, not at the replies. */
  health(): Promise<Health>;
  /** The server and whatever answers for its models; empty for an external target. */
  processes(): Promise<readonly ProcessRef[]>;
  /** The last log lines, oldest first; empty for an external target. */
  logTail(): readonly string[];
  stop(): Promise<void>;
}
