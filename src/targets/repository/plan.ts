/** What a model repository is made of, before anything is written. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_REPOSITORY, nearest } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { REPOSITORY_1_X, type RepositoryRelease } from '#core/profile/index.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import { configText, type Setting } from './config-text.ts';
import { type EngineFolder, readEngineFolder } from './engine-folder.ts';
import { launchProfile } from './launch-profile.ts';
import { llmapiModel, type Filling, stockModels } from './models.ts';
import { llmapiYaml } from './llmapi-yaml.ts';
import { variablesOf } from './parameters.ts';
import { releaseFor } from './release-for.ts';

export type Form = 'inflight' | 'v1' | 'llmapi';
export type Backend = 'tensorrtllm' | 'python' | 'cpu';

export interface RepositoryOptions {
  readonly form: Form;
  /** `cpu`: the models of docker/models, which run without a GPU on a Hugging Face checkpoint in place of an engine. */
  readonly backend: Backend;
  /** Undefined: what the engine says, or 1.x. */
  readonly release: string | undefined;
  /** Absolute; a Hugging Face checkpoint for the LLM API and for `cpu`. */
  readonly engine: string;
  /** Absolute. */
  readonly tokenizer: string;
  /** Absolute; NVIDIA's `all_models`. */
  readonly nvidiaModels: string | undefined;
  /** How the processes of several GPUs belong together. */
  readonly parallel: 'leader' | 'orchestrator';
  /** fill_template's name → value. */
  readonly set: Readonly<Record<string, string>>;
}

/** Path inside the repository → what lies there. */
export type Plan = ReadonlyMap<string, Content>;
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'folder' }
  /** The content of a folder, links followed, names that `skip` has left out. */
  | { readonly kind: 'copy'; readonly from: string; readonly skip: readonly string[] };

export interface PlannedRepository {
  readonly files: Plan;
  readonly release: RepositoryRelease;
  /** Undefined where no engine is needed. */
  readonly engine: EngineFolder | undefined;
  /** What the reader should know, one sentence each. */
  readonly notes: readonly string[];
}

/** Largest batch of a request that is asked for where the engine allows more; it batches nothing by itself. */
const MAX_BATCH_SIZE = 8;

/**
 * Errors: those of the engine folder; `tokenizer-missing`, `checkpoint-missing`, `release-unknown`, `form-unavailable`,
 * `variable-unknown`, `gpus-mismatch`, `nvidia-models-missing`.
 */
export function planRepository(options: RepositoryOptions): PlannedRepository {
  const { form, backend } = options;
  const needsEngine = form !== 'llmapi' && backend !== 'cpu';
  const engine = needsEngine ? readEngineFolder(options.engine) : undefined;
  if (!needsEngine) requireCheckpoint(options.engine, backend === 'cpu');
  requireTokenizer(options.tokenizer);
  const release = chooseRelease(options, engine);
  if (form === 'llmapi' && !release.llmapi.value) {
    throw new LockstepError('form-unavailable', `TensorRT-LLM ${release.id} has no model of the LLM API`, {
      hint: 'It came with 0.19: add --release 0.19 or 1.x, or make another form.',
    });
  }
  refuseUnknown(options, release);
  const filling = fill(options, release, engine);
  const files = new Map<string, Content>();
  const models = form === 'llmapi' ? [llmapiModel(filling)] : stockModels(filling);
  for (const model of models) {
    files.set(`${model.name}/config.pbtxt`, { kind: 'text', text: configText(model) });
    files.set(`${model.name}/1`, codeOf(options, model.name));
  }
  if (form === 'llmapi' && backend === 'cpu') {
    files.set('tensorrt_llm/1', { kind: 'copy', from: join(MODEL_REPOSITORY, 'tensorrt_llm', '1'), skip: ['model.py', 'responses.py'] });
    files.set('tensorrt_llm/1/.', { kind: 'copy', from: join(MODEL_REPOSITORY, 'llmapi', '1'), skip: [] });
  } else if (form === 'llmapi') {
    files.set('tensorrt_llm/1/model.yaml', { kind: 'text', text: llmapiYaml(options, release) });
  }
  return { files, release, engine, notes: notesOf(options, release, engine) };
}

function chooseRelease(options: RepositoryOptions, engine: EngineFolder | undefined): RepositoryRelease {
  if (options.release !== undefined) return releaseFor(options.release, '--release');
  if (engine?.version === undefined) return REPOSITORY_1_X;
  return releaseFor(engine.version, `${engine.config.file}:${engine.config.lineOf(['version'])}: the engine`);
}

function fill(options: RepositoryOptions, release: RepositoryRelease, engine: EngineFolder | undefined): Filling {
  const { form, backend } = options;
  const cpu = backend === 'cpu';
  const profile = launchProfile(release);
  const gpus = options.set['gpu_device_ids'] ?? Array.from({ length: engine?.worldSize ?? 1 }, (_, index) => index).join(',');
  if (engine !== undefined) refuseOtherGpus(gpus, engine);
  const twins = cpu ? twinSettings(form === 'llmapi' ? 'llmapi' : 'tensorrt_llm', options) : [];
  const ofTwin = Object.fromEntries(twins.map(({ key, value }) => [key, { value }]));
  const values: Filling['values'] = {
    ...ofTwin,
    ...profile,
    triton_backend: { value: cpu ? 'python' : backend },
    triton_max_batch_size: { value: String(Math.min(MAX_BATCH_SIZE, engine?.maxBatchSize ?? MAX_BATCH_SIZE)) },
    decoupled_mode: { value: String(form !== 'v1') },
    batching_strategy: { value: form === 'v1' ? 'V1' : 'inflight_fused_batching' },
    engine_dir: { value: options.engine },
    tokenizer_dir: { value: options.tokenizer },
    logits_datatype: { value: logitsType(engine) },
    ...(engine === undefined ? {} : { max_beam_width: { value: String(engine.maxBeamWidth), why: 'as the engine was built' } }),
    ...(cpu ? {} : { gpu_device_ids: { value: gpus, why: 'pinned: goldens belong to one layout of GPUs' } }),
    ...(options.parallel === 'orchestrator'
      ? {
          participant_ids: {
            value: Array.from({ length: engine?.worldSize ?? 1 }, (_, index) => index + 1).join(','),
            why: 'rank 0 is the orchestrator',
          },
        }
      : {}),
    ...Object.fromEntries(Object.entries(options.set).map(([name, value]) => [name, { value, why: undefined }])),
  };
  const stock = new Set(variablesOf(release));
  const more = twins
    .filter(
      ({ key }) =>
        form === 'llmapi' || (!stock.has(key) && !['gpt_model_type', 'gpt_model_path', 'FORCE_CPU_ONLY_INPUT_TENSORS'].includes(key)),
    )
    .map(({ key, value }) => ({ key, value: values[key]?.value ?? value }));
  return {
    release,
    values,
    more: { tensorrt_llm: more },
    vision: !cpu,
    title: `Made by \`lockstep repository create\`: TensorRT-LLM ${release.id}, form ${form}, back end ${backend}.`,
  };
}

/** The parameters that the models of docker/models read and NVIDIA's do not, with the folders of this repository. */
function twinSettings(model: string, options: RepositoryOptions): readonly Setting[] {
  const { parameters } = readModelConfig(join(MODEL_REPOSITORY, model, 'config.pbtxt'));
  const folders: Readonly<Record<string, string>> = {
    checkpoint_dir: options.engine,
    gpt_model_path: options.engine,
    tokenizer_dir: options.tokenizer,
  };
  return Object.entries(parameters).map(([key, { string_value }]) => ({ key, value: folders[key] ?? string_value }));
}

function logitsType(engine: EngineFolder | undefined): string {
  const types: Readonly<Record<string, string>> = { float32: 'TYPE_FP32', float16: 'TYPE_FP16', bfloat16: 'TYPE_BF16' };
  return types[engine?.logitsType ?? 'float32'] ?? 'TYPE_FP32';
}

const NVIDIA_PLACES = ['', 'inflight_batcher_llm', 'all_models', 'all_models/inflight_batcher_llm', 'triton_backend/all_models'] as const;
const CONTAINER_MODELS = '/app/all_models';

function codeOf({ form, backend, nvidiaModels }: RepositoryOptions, model: string): Content {
  if (model === 'ensemble' || (model === 'tensorrt_llm' && backend === 'tensorrtllm' && form !== 'llmapi')) return { kind: 'folder' };
  if (backend === 'cpu') return { kind: 'copy', from: join(MODEL_REPOSITORY, model, '1'), skip: ['__pycache__'] };
  const root = nvidiaModels ?? CONTAINER_MODELS;
  const inside =
    form === 'llmapi'
      ? ['llmapi/tensorrt_llm', 'all_models/llmapi/tensorrt_llm', 'triton_backend/all_models/llmapi/tensorrt_llm', 'tensorrt_llm']
      : NVIDIA_PLACES.map((place) => join(place, model)).concat(join('triton_backend/all_models/inflight_batcher_llm', model));
  const found = inside.map((place) => join(root, place, '1')).find((folder) => existsSync(join(folder, 'model.py')) && isOf(form, folder));
  if (found === undefined) {
    throw new LockstepError('nvidia-models-missing', `${root} has no model.py of NVIDIA's ${form === 'llmapi' ? 'LLM API model' : model}`, {
      hint: "Add --nvidia-models with the folder all_models: /app/all_models in NVIDIA's images, triton_backend/all_models in a clone of TensorRT-LLM. Lockstep does not ship these files.",
    });
  }
  return { kind: 'copy', from: found, skip: ['__pycache__', 'model.yaml'] };
}

/** Both forms have a `tensorrt_llm` with a model.py; the one of the LLM API has its settings beside it. */
function isOf(form: Form, folder: string): boolean {
  return existsSync(join(folder, 'model.yaml')) === (form === 'llmapi');
}

function requireCheckpoint(folder: string, weights: boolean): void {
  const missing = ['config.json', ...(weights ? ['model.safetensors'] : [])].find((name) => !existsSync(join(folder, name)));
  if (missing === undefined) return;
  throw new LockstepError('checkpoint-missing', `${folder} has no ${missing}`, {
    hint: 'This form is served from a Hugging Face checkpoint, not from an engine: give its folder as --engine-dir.',
  });
}

function requireTokenizer(folder: string): void {
  const known = ['tokenizer.json', 'tokenizer.model', 'tokenizer_config.json'];
  if (existsSync(folder) && statSync(folder).isDirectory() && readdirSync(folder).some((name) => known.includes(name))) return;
  throw new LockstepError('tokenizer-missing', `${folder} has no tokenizer: none of ${known.join(', ')}`, {
    hint: 'Give --tokenizer the folder of the checkpoint that the engine was built from.',
  });
}

const BATCHING_VARIABLES = ['max_queue_delay_microseconds', 'max_queue_size'];

const LLMAPI_VARIABLES = ['tensor_parallel_size', 'pipeline_parallel_size', 'decoupled_mode'];

function refuseUnknown({ form, set }: RepositoryOptions, release: RepositoryRelease): void {
  const known = form === 'llmapi' ? LLMAPI_VARIABLES : variablesOf(release);
  for (const name of Object.keys(set)) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new LockstepError(
      'variable-unknown',
      BATCHING_VARIABLES.includes(name)
        ? `${name} belongs to the block dynamic_batching, which the launch profile leaves out`
        : form === 'llmapi'
          ? `the model of the LLM API has no setting ${name} here`
          : `fill_template of TensorRT-LLM ${release.id} knows no ${name}`,
      {
        hint: BATCHING_VARIABLES.includes(name)
          ? 'Leave it out; no request waits for another.'
          : meant === undefined
            ? `Names are: ${known.join(', ')}.`
            : `Did you mean ${meant}?`,
      },
    );
  }
}

/** `0,1;2,3`: GPUs of one instance, instances apart by semicolons; the launch profile has one instance. */
function refuseOtherGpus(gpus: string, engine: EngineFolder): void {
  const instances = gpus.split(';');
  const ids = gpus.split(',');
  if (instances.length === 1 && ids.every((id) => /^\d+$/.test(id)) && new Set(ids).size === ids.length && ids.length === engine.worldSize)
    return;
  throw new LockstepError(
    'gpus-mismatch',
    `gpu_device_ids ${gpus} must name ${engine.worldSize} different GPU${engine.worldSize === 1 ? '' : 's'}: the engine is built for tensor parallel ${engine.tensorParallel} × pipeline parallel ${engine.pipelineParallel} (${engine.config.file}:${engine.config.lineOf(['pretrained_config', 'mapping'])})`,
    { hint: `Write --set gpu_device_ids=${Array.from({ length: engine.worldSize }, (_, index) => index).join(',')}, or leave it out.` },
  );
}

function notesOf(options: RepositoryOptions, release: RepositoryRelease, engine: EngineFolder | undefined): readonly string[] {
  const notes: string[] = [];
  if (options.form === 'v1' && !release.staticBatching.value)
    notes.push(`the runtime of V1 was removed upstream with 0.20; ${release.id} may refuse gpt_model_type V1.`);
  if (engine !== undefined && engine.worldSize > 1)
    notes.push(
      options.parallel === 'leader'
        ? `${engine.worldSize} processes: launch_triton_server.py --world_size ${engine.worldSize} --model_repo DIR.`
        : `one process and ${engine.worldSize} workers: launch_triton_server.py --multi-model --model_repo DIR, which sets TRTLLM_ORCHESTRATOR=1.`,
    );
  return notes;
}
