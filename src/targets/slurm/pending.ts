/** Why a job is pending, and whether waiting can help (squeue(1), JOB REASON CODES). */
const NEVER: Readonly<Record<string, string>> = {
  PartitionTimeLimit: 'Its time limit is above that of the partition: lower --time-limit, or choose another --partition.',
  PartitionNodeLimit: 'It asks for more nodes than the partition gives or has: lower --nodes, or choose another --partition.',
  BadConstraints: 'No node has what it asks for: correct --gres and --slurm-arg.',
  InvalidAccount: 'Name an account that you may use: --account.',
  InvalidQOS: 'Name a QOS that you may use: --slurm-arg=--qos=NAME.',
  AccountNotAllowed: 'Name an account that the partition takes: --account.',
  QOSNotAllowed: 'Name a QOS that the partition takes: --slurm-arg=--qos=NAME.',
  JobHeldUser: 'It is held: leave --hold out of --slurm-arg, or release it with scontrol release.',
  JobHeldAdmin: 'Whoever runs the cluster holds it; ask there.',
  DependencyNeverSatisfied: 'It depends on a job that failed: leave --dependency out of --slurm-arg.',
  JobArrayTaskLimit: 'Leave --array out of --slurm-arg.',
};

const USUAL: Readonly<Record<string, string>> = {
  Resources: 'all fitting nodes are in use',
  Priority: 'other jobs come first',
  PartitionDown: 'the partition is down',
  PartitionInactive: 'the partition is inactive',
  None: 'not looked at yet',
};

/** What to do about a reason that no waiting ends; undefined where waiting can help. */
export function neverStarts(reason: string): string | undefined {
  return NEVER[reason];
}

/** `PENDING (Resources: all fitting nodes are in use)`. */
export function pendingText(state: string, reason: string): string {
  if (reason === '') return state;
  return USUAL[reason] === undefined ? `${state} (${reason})` : `${state} (${reason}: ${USUAL[reason]})`;
}
