/** What happens to a server in its job: whoever asks is told, and nothing is left. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findLiving } from '#targets/process/process-table.ts';
import { startSlurmServer } from '#targets/slurm/index.ts';
import { type Bench, death, openBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => void (bench = await openBench()), 300_000);
afterAll(() => bench[Symbol.dispose]());
afterEach(() => bench.leftNothing());

describe('a job', () => {
  test('whose server is killed', async () => {
    await using server = await startSlurmServer(bench.options());
    const [row] = findLiving(`lockstep_job_${server.run}_`).filter(({ argv }) => argv[0]?.endsWith('tritonserver'));
    process.kill(row?.pid ?? 0, 'SIGKILL');
    expect(await death(server, 20_000)).toContain('ended: FAILED');
  });

  test('whose Python model is killed, while the server goes on calling it READY', async () => {
    await using server = await startSlurmServer(bench.options());
    const [row] = findLiving(`lockstep_job_${server.run}_`).filter(({ argv }) => argv[0]?.endsWith('triton_python_backend_stub'));
    process.kill(row?.pid ?? 0, 'SIGKILL');
    expect(await death(server, 20_000)).toContain('lost the Python process of place');
  });
});
