/** What the tests of this folder share: the engine, a small repository, and what must not be left behind. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings, toDockerConfig } from '#core/config/index.ts';
import { OWNER_LABEL, RUN_LABEL } from '#targets/docker/labels.ts';
import { ownerState, readProcess } from '#targets/host/index.ts';
import { type DockerServerOptions, type DockerSettings, type Engine, connectEngine, cpuImage } from '#targets/docker/index.ts';

const CONFIG = `backend: "python"
max_batch_size: 0
model_transaction_policy { decoupled: true }
input { name: "N" data_type: TYPE_INT32 dims: [1] }
output { name: "I" data_type: TYPE_INT32 dims: [1] }
instance_group { count: 1 kind: KIND_CPU }
`;

/** Answers N times, one answer every 50 ms; below zero it takes so many MiB of memory at once. */
const MODEL = `import time
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            count = int(pb_utils.get_input_tensor_by_name(request, "N").as_numpy()[0])
            if count < 0:
                self.held = np.ones(-count * 2**20, dtype=np.uint8)
            sender = request.get_response_sender()
            for i in range(max(count, 1)):
                sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("I", np.array([i], dtype=np.int32))]))
                time.sleep(0.05)
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
`;

export interface Bench extends Disposable {
  readonly engine: Engine;
  readonly image: string;
  readonly folder: string;
  /** A repository with one model, \`count\`, or others by their code. */
  repository(name: string, models?: Readonly<Record<string, string>>): string;
  /** Options of a server on the small repository. */
  options(settings?: Partial<DockerSettings>, more?: Partial<DockerServerOptions>): DockerServerOptions;
  /** Names of containers and of shared memory that are this process's, or nobody's any more. */
  left(): Promise<string[]>;
  /** Throws with what is left. */
  leftNothing(): Promise<void>;
}

const notice = () => {};

export async function openBench(): Promise<Bench> {
  const engine = await connectEngine(process.env);
  const image = await cpuImage(engine, { notice });
  const folder = mkdtempSync(join(tmpdir(), 'lockstep docker '));
  const repository = (name: string, models: Readonly<Record<string, string>> = { count: MODEL }) => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    for (const [model, code] of Object.entries(models)) {
      mkdirSync(join(path, model, '1'), { recursive: true });
      writeFileSync(join(path, model, 'config.pbtxt'), CONFIG);
      writeFileSync(join(path, model, '1/model.py'), code);
    }
    return path;
  };
  const abandoned = (pid: number) => pid === process.pid || readProcess(pid) === undefined;
  const words = () =>
    readdirSync('/dev/shm').filter((name) => abandoned(Number(/^lockstep_docker_(\d+)-.*_last_words$/.exec(name)?.[1] ?? 1)));
  const before = new Set(words());
  const left = async () => {
    const containers = await engine.docker.listContainers({ all: true, filters: { label: [RUN_LABEL] } });
    const own = containers.filter(({ Labels }) => {
      const owner = Labels[OWNER_LABEL] ?? '';
      return owner.startsWith(`${process.pid}:`) || ownerState(owner) !== 'living';
    });
    return [...own.map(({ Names }) => Names.join(' ')), ...words().filter((name) => !before.has(name))];
  };
  return {
    engine,
    image,
    folder,
    repository,
    options: (settings = {}, more = {}) => ({
      settings: { ...toDockerConfig(defaultSettings(), folder), image, repository: repository('small'), gpus: 'none', ...settings },
      env: process.env,
      notice,
      ...more,
    }),
    left,
    leftNothing: async () => {
      const names = await left();
      if (names.length > 0) throw new Error(`left behind: ${names.map((name) => `${name} ${contentOf(name)}`).join(', ')}`);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** How a container ended and its last log lines, of a file; nothing of a container. */
function contentOf(name: string): string {
  try {
    return readFileSync(join('/dev/shm', name), 'utf8').slice(0, 2_000);
  } catch {
    return '';
  }
}
