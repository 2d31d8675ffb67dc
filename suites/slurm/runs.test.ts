/** What happens to a run: its job goes with it, by its own hand, its watchdog's or the next run's. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { findLiving } from '#targets/host/index.ts';
import { startSlurmServer } from '#targets/slurm/index.ts';
import { type Bench, openBench, queue, remainsOf, slurm } from './bench.ts';
import { Command } from '../docker/command.ts';

let bench: Bench;
beforeAll(async () => void (bench = await openBench()), 300_000);
afterAll(() => bench[Symbol.dispose]());

const check = (...args: readonly string[]) => new Command(['check', '--target', 'slurm', '--job-dir', bench.jobDir, ...args]);

/** What is there of servers that a command started. */
const left = ({ child }: Command) => remainsOf(child.pid, bench.jobDir);

const job = async ({ child }: Command) => (await queue()).find((line) => line.includes(`lockstep-${child.pid}-`));

describe('a run', { timeout: 90_000 }, () => {
  test('that is interrupted while its job is pending', async () => {
    const command = check('--partition', 'closed', 'goldens');
    await command.says(/job \d+ is PENDING \(PartitionDown/, 30_000);
    command.signalGroup('SIGINT');
    expect((await command.end(20_000)).code).toBe(130);
    expect(await left(command)).toEqual([]);
  });

  test('whose job is cancelled names it, and fails', async () => {
    const command = check('agreement', 'goldens');
    await command.says(/✓ agreement/, 60_000);
    const [id = ''] = (await job(command))?.split(' ') ?? [];
    await slurm('scancel', id);
    const { code, output } = await command.end(60_000);
    expect(code, output).toBe(1);
    expect(output).toMatch(new RegExp(`job ${id} on \\S+ was cancelled`));
    expect(await left(command)).toEqual([]);
  });

  test('that is killed has its job cancelled within 5 s', async () => {
    const command = check('agreement');
    await command.says(/lockstep against slurm/, 60_000);
    command.signalGroup('SIGKILL');
    const beginNs = nowNs();
    await pollUntil({ ms: 20_000, everyMs: 50, what: 'its job to be cancelled' }, async () =>
      (await job(command))?.includes('RUNNING') === true ? undefined : true,
    );
    expect((nowNs() - beginNs) / 1e6).toBeLessThan(5_000);
    await pollUntil({ ms: 20_000, everyMs: 100, what: 'everything to be gone' }, async () =>
      (await left(command)).length === 0 ? true : undefined,
    );
  });

  test('that is killed together with its watchdog has its job cancelled by the next', async () => {
    const command = check('--partition', 'closed', 'goldens');
    await command.says(/job \d+ is PENDING/, 30_000);
    const watchdogs = findLiving('watchdog/main.ts').filter(({ parent }) => parent === command.child.pid);
    expect(watchdogs).toHaveLength(1);
    for (const { pid } of watchdogs) process.kill(pid, 'SIGKILL');
    command.signalGroup('SIGKILL');
    await command.end(10_000);
    expect(await job(command)).toContain('PENDING');
    const notices: string[] = [];
    const next = startSlurmServer(bench.options({ partition: 'nowhere' }, { notice: (line) => void notices.push(line) }));
    await expect(next).rejects.toThrow('[partition-unknown]');
    expect(notices).toEqual(['cancelled a job that a killed run left']);
    expect(await left(command)).toEqual([]);
  });
});
