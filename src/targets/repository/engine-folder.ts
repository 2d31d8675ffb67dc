/** A folder with a TensorRT-LLM engine, as `trtllm-build` writes it: config.json and one `rank<n>.engine` for each GPU. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
import { type Positioned, readPositioned } from './positioned.ts';

const count = z.number().int().min(1);

const ENGINE_CONFIG = z.looseObject({
  version: z.string().optional(),
  pretrained_config: z.looseObject({
    dtype: z.string().optional(),
    logits_dtype: z.string().optional(),
    mapping: z.looseObject({ world_size: count.optional(), tp_size: count.optional(), pp_size: count.optional() }).optional(),
  }),
  build_config: z
    .looseObject({
      max_batch_size: count.optional(),
      max_beam_width: count.optional(),
      plugin_config: z
        .looseObject({ tokens_per_block: count.optional(), use_paged_context_fmha: z.union([z.boolean(), z.string()]).nullish() })
        .optional(),
    })
    .optional(),
});

export interface EngineFolder {
  readonly folder: string;
  readonly config: Positioned;
  /** TensorRT-LLM release that built it; undefined where it does not say. */
  readonly version: string | undefined;
  readonly worldSize: number;
  readonly tensorParallel: number;
  readonly pipelineParallel: number;
  readonly maxBatchSize: number | undefined;
  readonly maxBeamWidth: number;
  /** Tokens of one block of the KV cache; undefined where it does not say. */
  readonly tokensPerBlock: number | undefined;
  /** Whether it can reuse blocks; undefined where it does not say. */
  readonly pagedContextFmha: boolean | undefined;
  /** `float32` and the like. */
  readonly logitsType: string;
}

/** Reads config.json and looks for the file of every rank. Errors: those of `readEngineConfig`; `engine-incomplete`. */
export function readEngineFolder(folder: string): EngineFolder {
  const engine = readEngineConfig(folder);
  refuseIncomplete(engine);
  return engine;
}

/**
 * Reads config.json alone (upstream `tensorrt_llm/builder.py`, EngineConfig).
 *
 * Errors: `engine-missing` (no folder, no config.json), `engine-foreign` (another kind of config.json),
 * `engine-config-invalid`, `file-unreadable`, `file-malformed`.
 */
export function readEngineConfig(folder: string): EngineFolder {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new LockstepError('engine-missing', `there is no folder ${folder}`, { hint: 'Give the folder that trtllm-build wrote.' });
  }
  const file = join(folder, 'config.json');
  if (!existsSync(file)) {
    throw new LockstepError('engine-missing', `${folder} has no config.json, so it is no engine`, {
      hint: 'Give the folder that trtllm-build wrote (its --output_dir), not the one above it.',
    });
  }
  const config = readPositioned(file, 'json');
  const value = config.value as Readonly<Record<string, unknown>> | null;
  if (typeof value === 'object' && value !== null && !('pretrained_config' in value)) {
    const what =
      'architectures' in value || 'model_type' in value
        ? 'is the configuration of a Hugging Face checkpoint'
        : 'builder_config' in value
          ? 'was written by a TensorRT-LLM before 0.8'
          : 'has no pretrained_config';
    throw new LockstepError('engine-foreign', `${file}:1: ${what}, not of an engine`, {
      hint: 'Build an engine from it with trtllm-build, or make the repository of the LLM API with --form llmapi.',
    });
  }
  const parsed = ENGINE_CONFIG.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = (issue?.path ?? []).map((part) => (typeof part === 'number' ? part : String(part)));
    throw new LockstepError(
      'engine-config-invalid',
      `${file}:${config.lineOf(path)}: ${path.length === 0 ? 'the file' : path.join('.')}: ${(issue?.message ?? 'invalid').replace('Invalid input: ', '')}`,
      { hint: 'Restore the file that trtllm-build wrote; it is not edited by hand.' },
    );
  }
  return described(folder, config, parsed.data);
}

function described(folder: string, config: Positioned, data: z.output<typeof ENGINE_CONFIG>): EngineFolder {
  const { mapping, logits_dtype } = data.pretrained_config;
  const plugins = data.build_config?.plugin_config;
  const paged = plugins?.use_paged_context_fmha;
  const tensorParallel = mapping?.tp_size ?? 1;
  const pipelineParallel = mapping?.pp_size ?? 1;
  const worldSize = mapping?.world_size ?? tensorParallel * pipelineParallel;
  if (worldSize % (tensorParallel * pipelineParallel) !== 0) {
    throw new LockstepError(
      'engine-config-invalid',
      `${config.file}:${config.lineOf(['pretrained_config', 'mapping', 'world_size'])}: world_size ${worldSize} is no multiple of tp_size ${tensorParallel} × pp_size ${pipelineParallel}`,
      { hint: 'Restore the file that trtllm-build wrote; it is not edited by hand.' },
    );
  }
  return {
    folder,
    config,
    version: data.version,
    worldSize,
    tensorParallel,
    pipelineParallel,
    maxBatchSize: data.build_config?.max_batch_size,
    maxBeamWidth: data.build_config?.max_beam_width ?? 1,
    tokensPerBlock: plugins?.tokens_per_block,
    pagedContextFmha: paged === undefined || paged === null ? undefined : paged === true || /^(true|enable)$/i.test(String(paged)),
    logitsType: logits_dtype ?? 'float32',
  };
}

function refuseIncomplete({ folder, worldSize }: EngineFolder): void {
  const missing = Array.from({ length: worldSize }, (_, rank) => `rank${rank}.engine`).filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) {
    const there = readdirSync(folder).filter((name) => /^rank\d+\.engine$/.test(name));
    throw new LockstepError(
      'engine-incomplete',
      `${folder}: config.json speaks of ${worldSize} GPU${worldSize === 1 ? '' : 's'}, and ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''} is missing`,
      { hint: 'Copy the whole folder that trtllm-build wrote.', context: { found: there.join(', ') || 'no rank file' } },
    );
  }
}
