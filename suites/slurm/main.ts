/**
 * `npm run test:slurm`: target slurm on a real Slurm. Starts one of a single node, runs a good part of the suite on a real tritonserver in
 * a job, with the goldens of every other target, and then what goes wrong with jobs. Everything is stopped and removed at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { nowNs } from '#core/clock/index.ts';
import { DEFAULT_JOB_DIR, PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError, formatError } from '#core/errors/index.ts';
import { remainsOfAll } from './bench.ts';
import { startOwnCluster } from './own-cluster.ts';

/** What answers are, how they come and how they are worded. When a cancel frees the engine is a matter of this host's load, not of jobs. */
const PART = [
  'agreement/',
  'goldens/',
  'protocol/',
  ...['raw', 'ensemble', 'bls', 'llmapi', 'generate'].map((route) => `streaming/${route}-streams`),
];
const VITEST = 'node_modules/vitest/vitest.mjs';

const say = (line: string) => void process.stdout.write(`${line}\n`);
const seconds = (sinceNs: number) => `${((nowNs() - sinceNs) / 1e9).toFixed(1)} s`;
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt.abort());

async function run(...args: readonly string[]): Promise<boolean> {
  if (interrupt.signal.aborted) return false;
  const child = spawn(process.execPath, args, { cwd: PACKAGE_ROOT, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

async function testSlurm(): Promise<boolean> {
  const begunNs = nowNs();
  const held = new Map<string, boolean>();
  {
    await using cluster = await startOwnCluster(interrupt.signal);
    process.env['PATH'] = [cluster.bin, process.env['PATH']].join(delimiter);
    say(`${cluster.version} on this host: ${seconds(begunNs)}`);
    const tests = (...files: readonly string[]) => run(VITEST, 'run', '--project', 'slurm', ...files.map((file) => `suites/slurm/${file}`));
    const [suite, starts] = await Promise.all([
      run('src/cli/main.js', 'check', '--target', 'slurm', ...PART),
      tests('start', 'jobs', 'runs'),
    ]);
    held.set('the suite in a job', suite);
    held.set('starts and ends', starts);
    held.set('the death of a node', await tests('node-down'));
    const left = await remainsOfAll(DEFAULT_JOB_DIR);
    for (const line of left) say(`left behind: ${line}`);
    held.set('nothing left', left.length === 0);
  }
  say(`\nslurm: ${[...held].map(([what, ok]) => `${what} ${ok ? 'held' : 'FAILED'}`).join(', ')}: ${seconds(begunNs)}`);
  return [...held.values()].every(Boolean);
}

try {
  process.exitCode = (await testSlurm()) ? 0 : 1;
} catch (thrown) {
  process.stderr.write(`${formatError(LockstepError.from(thrown))}\n`);
  process.exitCode = interrupt.signal.aborted ? 130 : 2;
}
