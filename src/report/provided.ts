/** What the global set-up hands to suites and reports (`project.provide('lockstep', …)`): plain data. */
import type { RunConfig } from '#core/config/index.ts';
import type { Endpoints, ProcessRef } from '#targets/types.ts';
import type { ClaimResult, RunHeader } from '#checks/lab/result.ts';

/** One thing that could change an answer and is not as it was when the goldens were recorded. */
export interface IdentityDifference {
  readonly key: string;
  readonly golden: string;
  readonly target: string;
}

export interface ProvidedRun {
  readonly header: RunHeader;
  readonly config: RunConfig;
  readonly endpoints: Endpoints;
  /** What must live behind the replies; empty for an external target. */
  readonly processes: readonly ProcessRef[];
  readonly identityDifferences: readonly IdentityDifference[];
  /** Folder for the exchanges of failing cases. */
  readonly fixtures?: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    lockstep: ProvidedRun;
  }
  interface TaskMeta {
    /** Set on the test of a claim. */
    lockstep?: ClaimResult;
    /** Set on the file of a claim, so that merged reports, which run no set-up, know the run. */
    lockstepRun?: { readonly header: RunHeader; readonly identityDifferences: readonly IdentityDifference[] };
  }
}
