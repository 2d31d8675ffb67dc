/** A tritonserver in a job of a Slurm cluster: composed, submitted, found, waited for, cancelled. */
export { cancelRun } from './cancel.ts';
export { readPartitions } from './partitions.ts';
export { planJob } from './plan-job.ts';
export { startSlurmServer } from './start.ts';
export { describeSubmission } from './submit.ts';
export type { SlurmServer, SlurmServerOptions } from './server.ts';
export type { SlurmSettings } from './settings.ts';
