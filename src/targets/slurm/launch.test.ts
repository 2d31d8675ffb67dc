import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultSettings, toSlurmConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { SlurmConfig } from '#core/config/index.ts';
import { describeSubmission } from './submit.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-slurm-'));
  model('stock', 'ensemble', 'platform: "ensemble"');
  model(
    'stock',
    'tensorrt_llm',
    `backend: "tensorrtllm"\nparameters: { key: "gpt_model_path" value: { string_value: "${folder}/engine-4" } }`,
  );
  model('two nodes', 'tensorrt_llm', 'backend: "python"');
  write('two nodes/tensorrt_llm/1/model.yaml', 'model: /llama\ntensor_parallel_size: 8\npipeline_parallel_size: 2\n');
  model('cpu', 'tensorrt_llm', 'backend: "python"');
  engine('engine-4', 4);
  engine('engine-1', 1);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const model = (repository: string, name: string, config: string) =>
  write(`${repository}/${name}/config.pbtxt`, `name: "${name}"\n${config}\n`);
const engine = (name: string, worldSize: number) => {
  const mapping = { world_size: worldSize, tp_size: worldSize, pp_size: 1 };
  write(`${name}/config.json`, JSON.stringify({ version: '1.0.0', pretrained_config: { mapping } }));
  for (let rank = 0; rank < worldSize; rank += 1) write(`${name}/rank${rank}.engine`, '');
};

const PLAIN = {
  program: '/opt/tritonserver/bin/tritonserver',
  backends: undefined,
  caches: undefined,
  python: undefined,
  wheelSha256: undefined,
};

/** What is submitted, with the folder of this test as F. */
function submission(
  repository: string,
  config: Partial<SlurmConfig>,
  layout: Parameters<typeof describeSubmission>[0]['layout'] = PLAIN,
): string {
  const settings = {
    ...toSlurmConfig({ ...defaultSettings(), jobDir: `${folder}/jobs` }, folder),
    ...config,
    repository: join(folder, repository),
  };
  return describeSubmission({ settings, layout: settings.image === undefined ? layout : undefined }).replaceAll(folder, 'F');
}

const failing = (work: () => unknown) => {
  try {
    work();
  } catch (thrown) {
    return LockstepError.from(thrown);
  }
  return expect.unreachable('it was composed');
};

test('one rank loads every model by name, with what the user adds last; its Python goes first on PATH', () => {
  const python = { bin: '/py 3/bin', version: '3.11.2', program: '/usr/bin/python3.11', libraryFolder: '/opt/py/lib', packages: '' };
  const config = {
    partition: 'gpu',
    account: 'team',
    timeLimit: '1:00:00',
    gres: 'gpu:1',
    args: ['--mem=32G'],
    serverArgs: ['--log-verbose=1', '--grpc-restricted-protocol=health:key=not-to-be-seen'],
  };
  const layout = { ...PLAIN, program: '/t/bin/tritonserver', backends: '/t/backends', caches: '/t/caches', python };
  expect(submission('cpu', config, layout)).toBe(
    `sbatch --parsable --job-name=lockstep-RUN --comment=lockstep:OWNER --output=F/jobs/lockstep-RUN/log --open-mode=append --no-requeue --nodes=1 --ntasks=1 --ntasks-per-node=1 --partition=gpu --account=team --time=1:00:00 --gres=gpu:1 --mem=32G F/jobs/lockstep-RUN/job.sh

# F/jobs/lockstep-RUN/job.sh
#!/bin/bash
# Starts tritonserver in the allocation of this job, until the job is cancelled.
# The Python stubs follow python3 on PATH.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV
export PATH='/py 3/bin':"$PATH"
export LD_LIBRARY_PATH=/opt/py/lib"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# Since 22.05 srun does not take it over from sbatch.
if [ -n "\${SLURM_CPUS_PER_TASK:-}" ]; then export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"; fi
exec srun --kill-on-bad-exit=1 \\
  bash F/jobs/lockstep-RUN/rank.sh F/jobs/lockstep-RUN \\
  /t/bin/tritonserver --model-repository=F/cpu --backend-directory=/t/backends --cache-directory=/t/caches --exit-timeout-secs=5 --model-control-mode=explicit --load-model=tensorrt_llm --log-verbose=1 '--grpc-restricted-protocol=…'
`,
  );
});

// tensorrtllm_backend README, "Launch with Slurm", and NVIDIA/pyxis wiki, "Usage"; pyxis needs enroot and NVIDIA's image, so this cannot run without.
test('an engine of four ranks is started by srun through PMIx, in the image, with its folders where the configurations look for them', () => {
  const env = ['HF_TOKEN', 'LEVEL=not-to-be-seen'];
  const lines = submission('stock', {
    image: 'nvcr.io#nvidia/tritonserver:25.12-trtllm-python-py3',
    engineDir: `${folder}/engine-4`,
    gres: 'gpu:4',
    env,
  }).split('\n');
  expect(lines[0]).toContain('--nodes=1 --ntasks=4 --ntasks-per-node=4 --gres=gpu:4');
  expect(lines.slice(-4).join('\n')).toBe(
    `exec srun --kill-on-bad-exit=1 --mpi=pmix '--container-image=nvcr.io#nvidia/tritonserver:25.12-trtllm-python-py3' --container-mounts=F/stock:/models:ro,F/engine-4:F/engine-4:ro,F/jobs/lockstep-RUN:F/jobs/lockstep-RUN --no-container-mount-home --no-container-entrypoint --container-env=HF_TOKEN,LEVEL \\
  bash F/jobs/lockstep-RUN/rank.sh F/jobs/lockstep-RUN \\
  /opt/tritonserver/bin/tritonserver --model-repository=/models --exit-timeout-secs=5 --disable-auto-complete-config
`,
  );
  expect(lines.join('\n')).not.toContain('not-to-be-seen');
});

test('the LLM API over two nodes gets its ranks from NVIDIA’s launcher', () => {
  const lines = submission('two nodes', { nodes: 2 }).split('\n');
  expect(lines[0]).toContain('--nodes=2 --ntasks=16 --ntasks-per-node=8');
  expect(lines.slice(-4).join('\n')).toBe(
    `exec srun --kill-on-bad-exit=1 --mpi=pmix \\
  bash F/jobs/lockstep-RUN/rank.sh F/jobs/lockstep-RUN \\
  trtllm-llmapi-launch /opt/tritonserver/bin/tritonserver '--model-repository=F/two nodes' --exit-timeout-secs=5 --disable-auto-complete-config
`,
  );
});

test('ranks are those of the engine that is named, else of the one that the repository names', () => {
  const ranks = (config: Partial<SlurmConfig>) => /--ntasks=(\d+)/.exec(submission('stock', config))?.[1];
  expect(ranks({})).toBe('4');
  expect(ranks({ engineDir: join(folder, 'engine-1') })).toBe('1');
});

test('what cannot be is refused before anything is submitted', () => {
  expect(failing(() => submission('stock', { nodes: 3 }))).toMatchObject({
    code: 'ranks-uneven',
    hint: 'Give --nodes a number that divides 4.',
  });
  expect(failing(() => submission('two nodes', { image: 'x' }))).toMatchObject({ code: 'mount-path-refused' });
});

test('a folder with a percent sign is no pattern of Slurm’s', () => {
  expect(submission('cpu', { jobDir: '/jobs/100%j' })).toContain('--output=/jobs/100%%j/lockstep-RUN/log');
});
