/** What happens to a server in its job: whoever asks is told, and nothing is left. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { findLiving } from '#targets/host/index.ts';
import { startSlurmServer } from '#targets/slurm/index.ts';
import { type Bench, death, openBench, queue } from './bench.ts';

let bench: Bench;
beforeAll(async () => void (bench = await openBench()), 300_000);
afterAll(() => bench[Symbol.dispose]());
afterEach(() => bench.leftNothing());

describe('a job', () => {
  test('whose server and Python model are killed, which leaves their shared memory to the rank', async () => {
    await using server = await startSlurmServer(bench.options());
    const rows = findLiving(`lockstep_job_${server.run}_`);
    expect(rows.map(({ argv }) => basename(argv[0] ?? '')).toSorted()).toEqual(['triton_python_backend_stub', 'tritonserver']);
    for (const { pid } of rows) process.kill(pid, 'SIGKILL');
    expect(await death(server, 20_000)).toContain('ended: FAILED');
    expect(readdirSync('/dev/shm').filter((name) => name.startsWith(`lockstep_job_${server.run}_`))).toEqual([]);
  });

  test('whose Python model is killed, while the server goes on calling it READY', async () => {
    await using server = await startSlurmServer(bench.options());
    const [row] = findLiving(`lockstep_job_${server.run}_`).filter(({ argv }) => argv[0]?.endsWith('triton_python_backend_stub'));
    process.kill(row?.pid ?? 0, 'SIGKILL');
    expect(await death(server, 20_000)).toContain('lost the Python process of place');
  });

  test('whose folder is removed ends by itself, as if Slurm could not be asked', async () => {
    await using server = await startSlurmServer(bench.options());
    rmSync(join(bench.jobDir, `lockstep-${server.run}`), { recursive: true });
    await pollUntil({ ms: 20_000, everyMs: 100, what: 'its server to end' }, () =>
      findLiving(`lockstep_job_${server.run}_`).length === 0 ? true : undefined,
    );
    await pollUntil({ ms: 20_000, everyMs: 100, what: 'its job to end' }, async () =>
      (await queue()).some((line) => line.includes(server.run)) ? undefined : true,
    );
    expect(await server.health()).toMatchObject({ alive: false });
  });

  test('whose node is not reached from here says so', async () => {
    const path = process.env['PATH'] ?? '';
    const scontrol = path
      .split(':')
      .map((folder) => join(folder, 'scontrol'))
      .find((file) => existsSync(file));
    const elsewhere = bench.program('elsewhere/scontrol', `${scontrol} "$@" | sed 's/NodeAddr=[^ ]*/NodeAddr=nowhere.invalid/'`);
    process.env['PATH'] = `${dirname(elsewhere.program)}:${path}`;
    const start = startSlurmServer(bench.options()).finally(() => (process.env['PATH'] = path));
    await expect(start).rejects.toMatchObject({
      code: 'node-unreachable',
      message: expect.stringMatching(/the server listens on its node, and nowhere\.invalid:\d+ cannot be connected to from here/),
      context: { why: expect.stringContaining('nowhere.invalid') },
      hint: expect.stringContaining('login node'),
    });
  });
});
