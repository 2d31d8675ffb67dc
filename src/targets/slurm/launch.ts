import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { LockstepError } from '#core/errors/index.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import { type Mount, REPOSITORY_TARGET, modelFolders, planMounts } from '../tritonserver/index.ts';
import type { TritonLayout } from '../process/index.ts';
import { readEngineFolder } from '../repository/index.ts';
import type { SlurmSettings } from './settings.ts';

/** Where NVIDIA's images have it. */
const CONTAINER_PROGRAM = '/opt/tritonserver/bin/tritonserver';
/** NVIDIA's wrapper that gives the LLM API its ranks. */
const LLMAPI_LAUNCH = 'trtllm-llmapi-launch';
/** The server's own grace for requests in flight; it is no hard bound, which rank.sh sets. */
const EXIT_TIMEOUT_S = 5;

/** What a job runs, in the terms of srun. */
export interface Launch {
  readonly nodes: number;
  readonly ranks: number;
  /** Of one rank, without what rank.sh adds: ports and the prefix of shared memory. */
  readonly command: readonly string[];
  /** Undefined: no container. */
  readonly image: string | undefined;
  readonly mounts: readonly Mount[];
  /** Names of the environment that the container takes from the job in place of its own. */
  readonly envNames: readonly string[];
  /** Folders that go first on PATH and LD_LIBRARY_PATH. */
  readonly paths: { readonly programs?: string | undefined; readonly libraries?: string | undefined };
}

/**
 * Composes the server's command line. One rank loads every model by name, so that claims can unload one and load it again; several get
 * the whole repository each, as NVIDIA's documentation starts them under srun (tensorrtllm_backend README, "Launch with Slurm").
 *
 * `layout` is the server of the nodes; undefined in a container. Errors: `mount-source-missing`, `ranks-uneven`, those of `readEngineFolder`.
 */
export function planLaunch(settings: SlurmSettings, layout: TritonLayout | undefined): Launch {
  const { repository, nodes, image, engineDir } = settings;
  const built = rankCount(repository, engineDir);
  const ranks = settings.ranks === undefined ? built : { ...built, count: settings.ranks, source: '--world-size' };
  if (ranks.count % nodes !== 0) {
    throw new LockstepError('ranks-uneven', `${ranks.source} asks for ${ranks.count} ranks, which ${nodes} nodes cannot share evenly`, {
      hint: `Give --nodes a number that divides ${ranks.count}.`,
    });
  }
  const mounts = image === undefined ? [] : planMounts(settings).all;
  const models = modelFolders(repository);
  const explicit = ['--model-control-mode=explicit', ...models.map((name) => `--load-model=${name}`)];
  return {
    nodes,
    ranks: ranks.count,
    command: [
      ...(ranks.count > 1 && ranks.llmapi ? [LLMAPI_LAUNCH] : []),
      layout?.program ?? CONTAINER_PROGRAM,
      `--model-repository=${image === undefined ? repository : REPOSITORY_TARGET}`,
      ...(layout?.backends === undefined ? [] : [`--backend-directory=${layout.backends}`]),
      ...(layout?.caches === undefined ? [] : [`--cache-directory=${layout.caches}`]),
      `--exit-timeout-secs=${EXIT_TIMEOUT_S}`,
      ...(ranks.count > 1 ? ['--disable-auto-complete-config'] : explicit),
      ...settings.serverArgs,
    ],
    image,
    mounts,
    envNames: settings.env.map((line) => line.split('=', 1)[0]!),
    paths: { programs: layout?.python?.bin, libraries: layout?.python?.libraryFolder },
  };
}

interface Ranks {
  readonly count: number;
  readonly llmapi: boolean;
  /** What says so. */
  readonly source: string;
}

/** Tensor parallel × pipeline parallel, from the engine that was named, the one that the repository names, or model.yaml of the LLM API. */
function rankCount(repository: string, engineDir: string | undefined): Ranks {
  const yaml = join(repository, 'tensorrt_llm/1/model.yaml');
  if (existsSync(yaml)) {
    const model = parse(readFileSync(yaml, 'utf8')) as Readonly<Record<string, unknown>> | null;
    const size = (name: string) => (typeof model?.[name] === 'number' ? model[name] : 1);
    return { count: size('tensor_parallel_size') * size('pipeline_parallel_size'), llmapi: true, source: yaml };
  }
  const folder = engineDir ?? namedEngine(repository);
  // The checkpoint of the CPU models is no engine.
  if (folder === undefined || !existsSync(join(folder, 'rank0.engine'))) return { count: 1, llmapi: false, source: repository };
  return { count: readEngineFolder(folder).worldSize, llmapi: false, source: folder };
}

function namedEngine(repository: string): string | undefined {
  const path = join(repository, 'tensorrt_llm/config.pbtxt');
  const named = existsSync(path) ? readModelConfig(path).parameters?.['gpt_model_path']?.string_value : undefined;
  return named !== undefined && isAbsolute(named) ? named : undefined;
}
