import { expect, test } from 'vitest';
import { describeEnd } from './ending.ts';
import { parseJob } from './job.ts';
import { neverStarts, pendingText } from './pending.ts';
import { slurmError } from './slurm-error.ts';

// As scontrol of 22.05.8 printed it, cut where it goes on with what is not read.
const FAILED =
  'JobId=3 JobName=lockstep-1-a UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901757 Nice=0 Account=(null) QOS=(null) JobState=FAILED Reason=NonZeroExitCode Dependency=(null) Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=127:0 RunTime=00:00:01 TimeLimit=UNLIMITED TimeMin=N/A NodeList=vm BatchHost=vm NumNodes=1 Comment=lockstep:1:2:b@vm';
const PENDING =
  'JobId=4 JobName=lockstep-1-b JobState=PENDING Reason=PartitionDown Dependency=(null) ExitCode=0:0 RunTime=00:00:00 NodeList=(null) NumNodes=1-1';

test('a job is read from one line', () => {
  expect(parseJob(FAILED)).toEqual({ state: 'FAILED', reason: 'NonZeroExitCode', exitCode: '127:0', node: 'vm' });
  expect(parseJob(PENDING)).toEqual({ state: 'PENDING', reason: 'PartitionDown', exitCode: '0:0', node: undefined });
});

const rank = { rank: '0', code: '139', stopped: false };

test.each([
  ['FAILED', '1:0', 'ended: FAILED on n1, exit code 1; the server of rank 0 ended with code 139', 'log lines'],
  ['FAILED', '0:9', 'ended: FAILED on n1, exit code 0, signal 9; the server of rank 0 ended with code 139', 'log lines'],
  ['COMPLETED', '0:0', 'ended: COMPLETED on n1, exit code 0; the server of rank 0 ended with code 139', 'log lines'],
  ['CANCELLED', '0:15', 'was cancelled on n1', 'scancel'],
  ['TIMEOUT', '0:15', 'ran into its time limit on n1 (TIMEOUT)', '--time-limit'],
  ['OUT_OF_MEMORY', '0:125', 'ran out of memory on n1 (OUT_OF_MEMORY)', '--slurm-arg=--mem=64G'],
  ['NODE_FAIL', '1:0', 'lost its node on n1 (NODE_FAIL)', '--slurm-arg=--exclude=n1'],
  ['PREEMPTED', '0:15', 'had to make room for another (PREEMPTED)', '--slurm-arg=--qos=NAME'],
  ['UNKNOWN', '', 'is gone from the queue, and Slurm no longer knows how it ended; the server of rank 0 ended with code 139', 'log lines'],
])('the end of a job that is %s, %s', (state, exitCode, text, hint) => {
  const end = describeEnd({ state, exitCode, reason: state === 'FAILED' ? 'NonZeroExitCode' : 'None', node: 'n1' }, rank);
  expect(end.text).toBe(text);
  expect(end.hint).toContain(hint);
});

test('a reason that waiting ends is told, one that it does not is refused', () => {
  expect(pendingText('PENDING', 'Resources')).toBe('PENDING (Resources: all fitting nodes are in use)');
  expect(pendingText('PENDING', 'BeginTime')).toBe('PENDING (BeginTime)');
  expect(neverStarts('Resources')).toBeUndefined();
  expect(neverStarts('PartitionTimeLimit')).toContain('--time-limit');
});

// Texts of libslurmfull 22.05.8; those of the first rows were printed by the programs.
test.each([
  [
    'sbatch: error: invalid partition specified: gpus\nsbatch: error: Batch job submission failed: Invalid partition name specified',
    'partition-unknown',
    '--partition',
  ],
  [
    'sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job submission failed: Requested node configuration is not available',
    'resources-refused',
    'sinfo',
  ],
  ['slurm_load_jobs error: Unable to contact slurm controller (connect failure)', 'slurm-unreachable', 'scontrol ping'],
  ['sbatch: unrecognized option \'--no-such-flag\'\nTry "sbatch --help" for more information', 'slurm-refused', '--dry-run'],
  ['sbatch: error: Batch job submission failed: No partition specified or system default partition', 'partition-unknown', '--partition'],
  [
    'sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified',
    'account-refused',
    '--account',
  ],
  [
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
    'account-refused',
    'ask for less',
  ],
  [
    'sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)',
    'time-limit-refused',
    '--time-limit',
  ],
  ['sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification', 'resources-refused', '--gres'],
  ['sbatch: error: Batch job submission failed: Access/permission denied', 'slurm-forbidden', 'Ask who runs the cluster'],
  ['sbatch: error: Batch job submission failed: Protocol authentication error', 'slurm-forbidden', 'munge'],
])('what Slurm prints, %j, is %s', (words, code, hint) => {
  const error = slurmError('sbatch', words);
  expect(error.code).toBe(code);
  expect(error.hint).toContain(hint);
  expect(error.context['slurm']).toBe(words);
});
