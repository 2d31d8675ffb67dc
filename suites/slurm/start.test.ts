/** A server in a job: how it starts, what it says of itself, how it ends, and why it does not start. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { examineSlurm } from '#cli/doctor/slurm.ts';
import { defaultSettings } from '#core/config/index.ts';
import { formatError, LockstepError } from '#core/errors/index.ts';
import { healthOf } from '#targets/alive.ts';
import { type SlurmServer, startSlurmServer } from '#targets/slurm/index.ts';
import { type Bench, death, openBench, slurm } from './bench.ts';

let bench: Bench;
/** Its time is over while the other tests run: Slurm looks at limits every 30 s. */
let timed: SlurmServer;
beforeAll(async () => {
  bench = await openBench();
  timed = await startSlurmServer(bench.options());
  // A limit is minutes; the end of a job can be set to a second.
  await slurm('scontrol', 'update', `JobId=${timed.id}`, 'EndTime=now+1');
}, 300_000);
afterAll(async () => {
  await timed.stop();
  await bench.leftNothing();
  bench[Symbol.dispose]();
});
afterEach(() => bench.leftNothing(timed));

const failing = (work: Promise<SlurmServer>) =>
  work.then(
    async (server) => {
      await server.stop();
      return expect.unreachable('it started');
    },
    (thrown: unknown) => LockstepError.from(thrown),
  );

async function ask(http: string): Promise<string> {
  const answer = await fetch(`http://${http}/v2/models/place/infer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ inputs: [{ name: 'N', datatype: 'INT32', shape: [1], data: [1] }] }),
  });
  return answer.text();
}

describe('a server', () => {
  test('answers from its job with the environment that it was given, says what it is, and leaves nothing', async () => {
    const env = { ...process.env, LEVEL: 'not-to-be-seen', NCCL_ALGO: 'Ring' };
    await using server = await startSlurmServer(bench.options({ env: ['LEVEL'] }, { env }));
    expect(await ask(server.endpoints.http)).toContain('not-to-be-seen');
    expect(await server.health()).toEqual({ alive: true, detail: '' });
    expect(await healthOf(await server.processes())).toEqual({ alive: true, detail: '' });
    expect(server.identity).toMatchObject({
      server: 'tritonserver',
      triton: '2.51.0',
      gpu: 'none',
      environment: 'LEVEL',
      switches: 'NCCL_ALGO=Ring',
      slurm: 'slurm-wlm 22.05.8',
    });
    expect(server.logTail().join('\n')).toContain('Started HTTPService');
    const folder = join(bench.jobDir, `lockstep-${server.run}`);
    const files = readdirSync(folder);
    expect(files).toEqual(expect.arrayContaining(['job.sh', 'listening', 'log', 'node', 'owner', 'rank.sh', 'stubs']));
    expect(files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')).not.toContain('not-to-be-seen');
  });

  test('of two ranks is started once for each, and the first one is asked', async () => {
    // As TensorRT-LLM has it: other ranks never come back from loading their model.
    const asRanks = bench.program(
      'rank-aware',
      `[ "$SLURM_PROCID" = 0 ] || { echo "rank $SLURM_PROCID of $SLURM_NTASKS waits"; exec sleep 600; }\nexec ${bench.layout.program} "$@"`,
    );
    // Debian's plugin finds the library of PMIx at one place only, where it is not: the ranks start without it.
    const srun = (process.env['PATH'] ?? '')
      .split(':')
      .map((folder) => join(folder, 'srun'))
      .find((path) => existsSync(path));
    const withoutPmix = bench.program('bin/srun', `exec ${srun} "\${@/--mpi=pmix/--mpi=none}"`);
    const env = { ...process.env, PATH: `${dirname(withoutPmix.program)}:${process.env['PATH']}` };
    const layout = { ...asRanks, python: { ...asRanks.python!, bin: `${dirname(withoutPmix.program)}:${asRanks.python!.bin}` } };
    await using server = await startSlurmServer(bench.options({ engineDir: bench.engine(2) }, { layout, env }));
    expect(server.logTail()).toContain('rank 1 of 2 waits');
    expect(server.identity).toMatchObject({ ranks: '2 on 1 node' });
    expect(await ask(server.endpoints.http)).toContain('none');
  });
});

interface Refused {
  readonly what: string;
  readonly options: () => Parameters<Bench['options']>;
  readonly code: string;
  /** All of them are in the text for the terminal. */
  readonly words: readonly string[];
}

const REFUSED: readonly Refused[] = [
  {
    what: 'a partition that there is not',
    options: () => [{ partition: 'gpus' }],
    code: 'partition-unknown',
    words: ['nvalid partition', 'sinfo'],
  },
  { what: 'more memory than any node has', options: () => [{ args: ['--mem=900G'] }], code: 'resources-refused', words: ['sinfo'] },
  { what: 'GPUs where there are none', options: () => [{ gres: 'gpu:8' }], code: 'resources-refused', words: ['--gres'] },
  {
    what: 'an argument that sbatch does not know',
    options: () => [{ args: ['--no-such-flag'] }],
    code: 'slurm-refused',
    words: ['--no-such-flag', '--dry-run'],
  },
  {
    what: 'a time limit above that of the partition, which no waiting helps',
    options: () => [{ partition: 'short', timeLimit: '10' }],
    code: 'job-never-starts',
    words: ['PartitionTimeLimit', '--time-limit'],
  },
  { what: 'a job that is held', options: () => [{ args: ['--hold'] }], code: 'job-never-starts', words: ['JobHeldUser', '--hold'] },
  {
    what: 'a partition that is down, for as long as one waits',
    options: () => [{ partition: 'closed' }, { queueMs: 2_500 }],
    code: 'target-not-ready',
    words: ['waited 2500 ms for the job to start: PENDING (PartitionDown', '--queue-minutes'],
  },
  {
    what: 'a server that the node has not',
    options: () => [{}, { layout: { ...bench.layout, program: '/nowhere/tritonserver' } }],
    code: 'job-ended',
    words: ['FAILED', 'exit code 127', 'No such file or directory'],
  },
  {
    what: "a model that does not load, with Triton's reason",
    options: () => [{ repository: bench.repository('broken', { broken: 'raise ValueError("on purpose")' }) }],
    code: 'model-load-failed',
    words: ['the model broken did not load', 'on purpose'],
  },
  {
    what: 'a server that listens nowhere',
    options: () => [{}, { layout: bench.program('mute', 'exec sleep 600'), readyWithinMs: 3_000 }],
    code: 'target-not-ready',
    words: ['to listen'],
  },
];

describe('what cannot start says why', () => {
  test.each(REFUSED)('$what', async ({ options, code, words }) => {
    const error = await failing(startSlurmServer(bench.options(...options())));
    const text = formatError(error);
    expect(error.code, text).toBe(code);
    for (const word of words) expect(text).toContain(word);
  });

  test('no Slurm on this host', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = '/usr/bin:/bin';
    const error = await failing(startSlurmServer(bench.options())).finally(() => (process.env['PATH'] = path));
    expect(formatError(error)).toMatch(/slurm-missing.*no squeue on PATH[^]*login node/);
  });

  test('a controller that does not answer', async () => {
    const bin = bench.wrongCluster();
    const path = process.env['PATH'];
    process.env['PATH'] = `${bin}:${path}`;
    const error = await failing(startSlurmServer(bench.options())).finally(() => (process.env['PATH'] = path));
    expect(error).toMatchObject({ code: 'slurm-unreachable', hint: expect.stringContaining('scontrol ping') });
  });
});

test('doctor says what the cluster has, and whether the partition is there', async () => {
  const look = (partition?: string) =>
    examineSlurm({
      settings: { ...defaultSettings(), target: 'slurm', partition },
      env: process.env,
      cwd: bench.folder,
      signal: new AbortController().signal,
    });
  expect(await look()).toEqual([
    { level: 'ok', what: 'slurm', text: 'slurm-wlm 22.05.8, partitions main short closed' },
    { level: 'ok', what: 'partition', text: 'main is up, 1 node, jobs may run infinite, resources (null)' },
  ]);
  expect((await look('closed,gpus')).map(({ level, text }) => `${level}: ${text}`).slice(1)).toEqual([
    'warn: closed is down, 1 node, jobs may run infinite, resources (null)',
    'fail: there is no partition gpus',
  ]);
});

test('a job whose time is over says so', { timeout: 60_000 }, async () => {
  const detail = await death(timed, 50_000);
  expect(detail).toContain('ran into its time limit');
  expect(detail).toContain('--time-limit');
});
