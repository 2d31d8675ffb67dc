import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { sha256 } from '#core/hash/index.ts';
import { placeOf, placesIn } from '#wire/protocol/pbtxt-places.ts';
import { type ModelFile, readModels } from './audit/models.ts';
import { roleOf } from './audit/model-role.ts';
import type { EngineFolder } from './engine-folder.ts';
import { parameterOf } from './knobs/engine.ts';

export interface FitOptions {
  /** Engine that the server is to load, where one is named. */
  readonly engine?: EngineFolder | undefined;
  /** SHA-256 of the tokenizer.json that clients use. */
  readonly tokenizerHash?: string | undefined;
  /** Whether folders that the repository names are looked for on this host; of a container they are its own. */
  readonly onThisHost: boolean;
}

/** What keeps a server from starting, or its answers from being those that the run expects. */
export interface Misfit {
  /** `fails`: no server comes of it, or not the one that is meant; `differs`: it works, and not as the numbers say. */
  readonly level: 'fails' | 'differs';
  /** With file and line. */
  readonly text: string;
  readonly next: string;
}

export interface Fit {
  readonly models: readonly string[];
  readonly misfits: readonly Misfit[];
}

/**
 * Whether a repository serves this engine with this tokenizer: the models that ensembles name, paths that are filled in and lead to
 * the same engine and tokenizer, and limits that the engine was built for (docs/model_config.md of triton_backend upstream).
 *
 * Errors: `repository-missing`, `config-malformed`, `file-unreadable`.
 */
export function fitOf(repository: string, options: FitOptions): Fit {
  const models = readModels(repository);
  return {
    models: models.map(({ name }) => name),
    misfits: [...missingRoles(models), ...models.flatMap((model) => ofModel(model, models, options))],
  };
}

function missingRoles(models: readonly ModelFile[]): readonly Misfit[] {
  const roles = models.map(({ config }) => roleOf(config));
  const stock = roles.includes('engine') && roles.includes('ensemble');
  if (stock || roles.includes('llmapi')) return [];
  const missing = (['engine', 'ensemble'] as const).filter((role) => !roles.includes(role)).map((role) => STOCK_NAME[role]);
  return [
    {
      level: 'fails',
      text: `there is no model of the kind ${missing.join(' and none of the kind ')}`,
      next: 'Make a whole repository: lockstep repository create --engine-dir DIR --tokenizer DIR --output DIR.',
    },
  ];
}

const STOCK_NAME = { engine: 'tensorrt_llm', ensemble: 'ensemble' } as const;

function ofModel(model: ModelFile, models: readonly ModelFile[], options: FitOptions): readonly Misfit[] {
  const role = roleOf(model.config);
  if (role === 'ensemble') return stepsWithoutModel(model, models);
  if (role === 'engine') return ofEngine(model, options);
  if (role === 'preprocessing' || role === 'postprocessing') return ofTokenizer(model, options);
  return [];
}

function stepsWithoutModel(model: ModelFile, models: readonly ModelFile[]): readonly Misfit[] {
  const known = new Set(models.map(({ config, name }) => (config.name === '' ? name : config.name)));
  const steps = model.config.ensemble_scheduling?.step ?? [];
  return steps
    .filter(({ model_name: name }) => !known.has(name))
    .map(({ model_name: name }) => ({
      level: 'fails',
      text: `${model.file}:${lineOf(model, 'ensemble_scheduling')}: its step ${name} is no model of this repository`,
      next: 'Correct the name, or add the model.',
    }));
}

function ofEngine(model: ModelFile, { engine, onThisHost }: FitOptions): readonly Misfit[] {
  const path = pathMisfit(model, 'gpt_model_path', 'engine folder', onThisHost);
  if (path.misfit !== undefined) return [path.misfit];
  const found: Misfit[] = [];
  const config = path.folder === undefined ? undefined : join(path.folder, 'config.json');
  if (engine !== undefined && config !== undefined && existsSync(config) && hashOf(config) !== hashOf(engine.config.file)) {
    found.push({
      level: 'fails',
      text: `${model.file}:${lineOf(model, 'gpt_model_path')}: gpt_model_path is another engine than ${engine.folder}`,
      next: 'Name the engine that is served: --engine-dir, or gpt_model_path.',
    });
  }
  if (engine === undefined) return found;
  const limit = (key: string, set: number, built: number | undefined) => {
    if (built === undefined || !(set > built)) return;
    found.push({
      level: 'differs',
      text: `${model.file}:${lineOf(model, key)}: ${key} is ${set}, and the engine was built for ${built}`,
      next: `Set ${key} to ${built} or less, or build the engine for more.`,
    });
  };
  limit('max_batch_size', model.config.max_batch_size, engine.maxBatchSize);
  limit('max_beam_width', Number(parameterOf(model, 'max_beam_width') ?? 1), engine.maxBeamWidth);
  if (/^(true|1)$/i.test(parameterOf(model, 'enable_kv_cache_reuse') ?? '') && engine.pagedContextFmha === false) {
    found.push({
      level: 'differs',
      text: `${model.file}:${lineOf(model, 'enable_kv_cache_reuse')}: enable_kv_cache_reuse is true, and the engine was built without use_paged_context_fmha, which reuse needs`,
      next: 'Build the engine with --use_paged_context_fmha enable, or set enable_kv_cache_reuse to false.',
    });
  }
  return found;
}

function ofTokenizer(model: ModelFile, { tokenizerHash, onThisHost }: FitOptions): readonly Misfit[] {
  const { misfit, folder } = pathMisfit(model, 'tokenizer_dir', 'tokenizer folder', onThisHost);
  if (misfit !== undefined) return [misfit];
  const file = folder === undefined ? undefined : join(folder, 'tokenizer.json');
  if (file === undefined || tokenizerHash === undefined || !existsSync(file) || hashOf(file) === tokenizerHash) return [];
  return [
    {
      level: 'fails',
      text: `${model.file}:${lineOf(model, 'tokenizer_dir')}: tokenizer_dir is another tokenizer (sha256 ${hashOf(file).slice(0, 12)}) than the one of this run (${tokenizerHash.slice(0, 12)})`,
      next: 'Name the tokenizer that is served: --tokenizer, or tokenizer_dir.',
    },
  ];
}

function pathMisfit(
  model: ModelFile,
  key: string,
  what: string,
  onThisHost: boolean,
): { readonly misfit?: Misfit; readonly folder?: string } {
  const path = parameterOf(model, key);
  const at = `${model.file}:${lineOf(model, key)}`;
  if (path === undefined) {
    const next = `Fill it in with the path of the ${what}, or make the repository anew: lockstep repository create.`;
    return { misfit: { level: 'fails', text: `${at}: ${key} is not filled in`, next } };
  }
  const folder = isAbsolute(path) ? path : resolve(model.folder, path);
  if (existsSync(folder)) return { folder };
  if (!onThisHost) return {};
  return {
    misfit: { level: 'fails', text: `${at}: ${key} is ${path}, and there is no such folder`, next: `Correct the path of the ${what}.` },
  };
}

function lineOf({ text }: ModelFile, key: string): number {
  const places = placesIn(text);
  const place = placeOf(places, ['parameters', { key }], text) ?? placeOf(places, [key], text) ?? placeOf(places, ['name'], text);
  return place?.line ?? 1;
}

function hashOf(file: string): string {
  return sha256(readFileSync(file));
}
