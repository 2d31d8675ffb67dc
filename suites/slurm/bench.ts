/** What the tests of this folder share: a small repository, a folder for jobs, and what must not be left behind. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type SlurmConfig, defaultSettings, toSlurmConfig } from '#core/config/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { healthOf } from '#targets/alive.ts';
import { type TritonLayout, layOutTriton } from '#targets/process/index.ts';
import { findLiving, runCommand } from '#targets/host/index.ts';
import { registerForCleanup } from '#targets/watchdog/index.ts';
import type { SlurmServer, SlurmServerOptions, SlurmSettings } from '#targets/slurm/index.ts';

const CONFIG = `backend: "python"
max_batch_size: 0
input { name: "N" data_type: TYPE_INT32 dims: [1] }
output { name: "PLACE" data_type: TYPE_STRING dims: [1] }
instance_group { count: 1 kind: KIND_CPU }
`;

/** Says what LEVEL is in the environment of its job. */
const MODEL = `import os
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        text = os.environ.get("LEVEL", "none").encode()
        tensor = pb_utils.Tensor("PLACE", np.array([text], dtype=np.object_))
        return [pb_utils.InferenceResponse([tensor]) for _ in requests]
`;

export interface Bench extends Disposable {
  readonly folder: string;
  readonly jobDir: string;
  readonly layout: TritonLayout;
  /** A repository with one model, \`place\`, or others by their code. */
  repository(name: string, models?: Readonly<Record<string, string>>): string;
  /** An engine folder that says how many ranks it is for, and holds no engine. */
  engine(ranks: number): string;
  /** A program of the nodes. */
  program(name: string, script: string): TritonLayout;
  /** Folder of Slurm's programs for a controller that is not there. */
  wrongCluster(): string;
  /** Options of a server on the small repository. */
  options(settings?: Partial<SlurmSettings>, more?: Partial<SlurmServerOptions>): SlurmServerOptions;
  /** Throws with what is there of servers that this process started, beside those of one. */
  leftNothing(beside?: SlurmServer): Promise<void>;
}

export async function openBench(): Promise<Bench> {
  const layout = await layOutTriton();
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-slurm-'));
  const registration = registerForCleanup({ dirs: [folder] });
  const jobDir = join(folder, 'jobs of 100%');
  const repository = (name: string, models: Readonly<Record<string, string>> = { place: MODEL }) => {
    const path = join(folder, name);
    for (const [model, code] of Object.entries(models)) {
      mkdirSync(join(path, model, '1'), { recursive: true });
      writeFileSync(join(path, model, 'config.pbtxt'), CONFIG);
      writeFileSync(join(path, model, '1/model.py'), code);
    }
    return path;
  };
  return {
    folder,
    jobDir,
    layout,
    repository,
    engine: (ranks) => {
      const path = join(folder, `engine-${ranks}`);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'config.json'), JSON.stringify({ pretrained_config: { mapping: { world_size: ranks, tp_size: ranks } } }));
      for (let rank = 0; rank < ranks; rank += 1) writeFileSync(join(path, `rank${rank}.engine`), '');
      return path;
    },
    program: (name, script) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `#!/bin/bash\n${script}\n`);
      chmodSync(path, 0o755);
      return { ...layout, program: path };
    },
    wrongCluster: () => {
      const bin = (process.env['PATH'] ?? '').split(':').find((path) => existsSync(join(path, 'squeue'))) ?? '';
      const script = readFileSync(join(bin, 'squeue'), 'utf8');
      const conf = /SLURM_CONF=(\S+)/.exec(script)?.[1] ?? '';
      // Nothing listens on the first port.
      writeFileSync(
        join(folder, 'slurm.conf'),
        readFileSync(conf, 'utf8').replace(/^SlurmctldPort=.*$/m, 'SlurmctldPort=1\nMessageTimeout=2'),
      );
      mkdirSync(join(folder, 'wrong'), { recursive: true });
      writeFileSync(join(folder, 'wrong/squeue'), script.replace(conf, join(folder, 'slurm.conf')), { mode: 0o755 });
      return join(folder, 'wrong');
    },
    options: (settings = {}, more = {}) => {
      const config: SlurmConfig = toSlurmConfig({ ...defaultSettings(), jobDir }, folder);
      return { settings: { ...config, repository: repository('small'), ...settings }, layout, env: process.env, notice: () => {}, ...more };
    },
    leftNothing: async (beside) => {
      const left = (await remainsOf(process.pid, jobDir)).filter((line) => beside === undefined || !line.includes(beside.run));
      if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
    },
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
      registration.release();
    },
  };
}

/** Waits until both looks at the server say that it is dead, and gives what they say. */
export async function death(server: SlurmServer, ms: number): Promise<string> {
  const processes = await server.processes();
  return pollUntil({ ms, everyMs: 50, what: 'the death to be seen' }, async () => {
    const [own, others] = [await server.health(), await healthOf(processes)];
    if (own.alive || others.alive) return undefined;
    if (others.detail.split('\n')[0] !== own.detail.split('\n')[0])
      throw new Error(`“${own.detail}” and “${others.detail}” are not one death`);
    return own.detail;
  });
}

/** Jobs of this Slurm; folders, processes and shared memory of any of this project on this host, each with the name of its run, which begins with the runner's pid. */
export async function remains(jobDir: string): Promise<string[]> {
  return [
    ...(await queue()),
    ...list(jobDir),
    ...list('/dev/shm').filter((name) => name.startsWith('lockstep_job_') || name.endsWith('_last_words')),
    ...findLiving('lockstep_job_').map(({ pid, argv }) => `${pid} ${argv.join(' ')}`),
  ];
}

/** Those of a runner, which is known by its pid. */
export async function remainsOf(pid: number | undefined, jobDir: string): Promise<string[]> {
  const own = new RegExp(`lockstep[-_](job_)?${pid}-`);
  return (await remains(jobDir)).filter((line) => own.test(line));
}

/** Those of every job that this Slurm was given: another one may run on the same host. */
export async function remainsOfAll(jobDir: string): Promise<string[]> {
  const jobs = await slurm('scontrol', 'show', 'job', '--oneliner');
  const runs = [...jobs.matchAll(/ JobName=lockstep-(\S+)/g)].map(([, run]) => run as string);
  if (runs.length === 0) throw new Error('Slurm knows of no job');
  return (await remains(jobDir)).filter((line) => runs.some((run) => line.includes(run)));
}

/** Jobs in the queue, one a line. */
export async function queue(): Promise<string[]> {
  return (await slurm('squeue', '--noheader', '--format=%i %T %j')).split('\n').filter((line) => line !== '');
}

export async function slurm(program: string, ...args: readonly string[]): Promise<string> {
  return runCommand(program, args, { ms: 20_000, what: program });
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
