/** A node that goes down takes every job with it, so this runs by itself. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { findLiving } from '#targets/host/index.ts';
import { startSlurmServer } from '#targets/slurm/index.ts';
import { type Bench, death, openBench, slurm } from './bench.ts';

let bench: Bench;
beforeAll(async () => void (bench = await openBench()), 300_000);
afterAll(() => bench[Symbol.dispose]());
afterEach(() => bench.leftNothing());

test('a job whose node goes down says so', async () => {
  await using server = await startSlurmServer(bench.options());
  const node = server.identity['node'] ?? '';
  try {
    await slurm('scontrol', 'update', `NodeName=${node}`, 'State=DOWN', 'Reason=test');
    expect(await death(server, 30_000)).toContain(`lost its node`);
  } finally {
    // A node that answers comes back by itself (ReturnToService), and ends what it ran before.
    await pollUntil({ ms: 20_000, everyMs: 100, what: 'the node to be idle again' }, async () =>
      (await slurm('sinfo', '--noheader', '--partition=main', '--format=%T')) === 'idle\n' ? true : undefined,
    );
    await pollUntil({ ms: 20_000, everyMs: 100, what: 'the processes on the node to end' }, () =>
      findLiving(`lockstep_job_${process.pid}-`).length === 0 ? true : undefined,
    );
  }
});
