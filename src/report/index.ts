/** The public face of reports. `claim()` has its own, claim.ts, since it can be imported inside vitest's workers only. */
export { claimKey, claimPattern } from './claim-name.ts';
export { renderFailedClaim } from './terminal/failure.ts';
export { type Style, styleFor } from './terminal/style.ts';
export type { IdentityDifference, ProvidedRun } from './provided.ts';
export { default as LockstepReporter } from './lockstep-reporter.ts';
export type { LockstepReporterOptions } from './lockstep-reporter.ts';
export type { RunOutcome, RunReport } from './run-report.ts';
export type { CaseView, ClaimResult, Failure, GapCount, RunHeader, SideView } from '#checks/lab/result.ts';
