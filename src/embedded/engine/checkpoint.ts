import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';
import { parseSafetensors, type Tensor } from './safetensors.ts';

/** The sizes of a Llama; names follow config.json of transformers, shortened. */
export interface LlamaConfig {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ff: number;
  readonly vocab: number;
  readonly maxPositions: number;
  readonly normEps: number;
  readonly ropeTheta: number;
}

/** Row-major matrices [outputs, inputs], as in the file; `qkv` and `gateUp` are stacked along the outputs. */
export interface LayerWeights {
  readonly inputNorm: Float64Array;
  /** [(heads + 2 kvHeads) × headDim, hidden] */
  readonly qkv: Float64Array;
  /** [hidden, heads × headDim] */
  readonly out: Float64Array;
  readonly mlpNorm: Float64Array;
  /** [2 ff, hidden] */
  readonly gateUp: Float64Array;
  /** [hidden, ff] */
  readonly down: Float64Array;
}

export interface Checkpoint {
  readonly config: LlamaConfig;
  /** [vocab, hidden] */
  readonly embedding: Float64Array;
  readonly layers: readonly LayerWeights[];
  readonly finalNorm: Float64Array;
  /** [vocab, hidden]; the embedding itself when the two are tied. */
  readonly output: Float64Array;
  /** From generation_config.json, or config.json; -1 when neither says. */
  readonly eosId: number;
}

/**
 * Reads a Hugging Face folder: config.json, model.safetensors (one file, F32 or BF16), generation_config.json.
 *
 * Errors: `checkpoint-missing`, `checkpoint-malformed`, `checkpoint-truncated`, `checkpoint-dtype`,
 * `checkpoint-shape`, `checkpoint-architecture`.
 */
export function readCheckpoint(folder: string): Checkpoint {
  const raw = readJson(join(folder, 'config.json'));
  const config = parseConfig(raw, folder);
  const path = join(folder, 'model.safetensors');
  const tensors = parseSafetensors(read(path), path);
  const take = (name: string, ...shape: number[]) => takeTensor(tensors, name, shape, path);
  const { hidden, vocab, ff } = config;
  const qWidth = config.heads * config.headDim;
  const kvWidth = config.kvHeads * config.headDim;
  const layers = Array.from({ length: config.layers }, (_, index): LayerWeights => {
    const prefix = `model.layers.${index}.`;
    return {
      inputNorm: take(`${prefix}input_layernorm.weight`, hidden),
      qkv: stack(
        take(`${prefix}self_attn.q_proj.weight`, qWidth, hidden),
        take(`${prefix}self_attn.k_proj.weight`, kvWidth, hidden),
        take(`${prefix}self_attn.v_proj.weight`, kvWidth, hidden),
      ),
      out: take(`${prefix}self_attn.o_proj.weight`, hidden, qWidth),
      mlpNorm: take(`${prefix}post_attention_layernorm.weight`, hidden),
      gateUp: stack(take(`${prefix}mlp.gate_proj.weight`, ff, hidden), take(`${prefix}mlp.up_proj.weight`, ff, hidden)),
      down: take(`${prefix}mlp.down_proj.weight`, hidden, ff),
    };
  });
  const embedding = take('model.embed_tokens.weight', vocab, hidden);
  const output = raw['tie_word_embeddings'] === true ? embedding : take('lm_head.weight', vocab, hidden);
  return { config, embedding, layers, finalNorm: take('model.norm.weight', hidden), output, eosId: readEosId(folder, raw) };
}

function parseConfig(raw: Record<string, unknown>, folder: string): LlamaConfig {
  const architectures = raw['architectures'];
  if (!Array.isArray(architectures) || architectures[0] !== 'LlamaForCausalLM') {
    throw architecture(`architectures is ${JSON.stringify(architectures)}`, folder);
  }
  for (const key of ['attention_bias', 'mlp_bias']) if (raw[key] === true) throw architecture(`${key} is true`, folder);
  if ((raw['hidden_act'] ?? 'silu') !== 'silu') throw architecture(`hidden_act is ${String(raw['hidden_act'])}`, folder);
  // transformers 4 writes rope_theta, transformers 5 rope_parameters.rope_theta; 10,000 is the default of both.
  const rope = (raw['rope_parameters'] ?? {}) as Record<string, unknown>;
  const scaling = raw['rope_scaling'] ?? undefined;
  if (scaling !== undefined || (rope['rope_type'] ?? 'default') !== 'default') throw architecture('the rotary embedding is scaled', folder);
  const whole = (key: string, fallback?: number) => {
    const value = raw[key] ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
    throw new LockstepError('checkpoint-malformed', `${key} in ${join(folder, 'config.json')} is ${JSON.stringify(raw[key])}`, {
      hint: `Give ${key} as a whole number above 0.`,
    });
  };
  const heads = whole('num_attention_heads');
  const hidden = whole('hidden_size');
  return {
    hidden,
    layers: whole('num_hidden_layers'),
    heads,
    kvHeads: whole('num_key_value_heads', heads),
    headDim: whole('head_dim', hidden / heads),
    ff: whole('intermediate_size'),
    vocab: whole('vocab_size'),
    maxPositions: whole('max_position_embeddings'),
    normEps: Number(raw['rms_norm_eps'] ?? 1e-6),
    ropeTheta: Number(rope['rope_theta'] ?? raw['rope_theta'] ?? 10_000),
  };
}

function architecture(what: string, folder: string): LockstepError {
  return new LockstepError('checkpoint-architecture', `${folder} is not a plain Llama: ${what}`, {
    hint: 'Use a LlamaForCausalLM checkpoint with SiLU, without biases and without rotary scaling.',
  });
}

function takeTensor(tensors: ReadonlyMap<string, Tensor>, name: string, shape: readonly number[], path: string): Float64Array {
  const tensor = tensors.get(name);
  if (tensor !== undefined && String(tensor.shape) === String(shape)) return tensor.values;
  throw new LockstepError(
    'checkpoint-shape',
    tensor === undefined ? `${path} has no tensor ${name}` : `tensor ${name} of ${path} is [${tensor.shape}], not [${shape}]`,
    { hint: 'config.json and model.safetensors belong to different models; take both from the same folder.' },
  );
}

function stack(...parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function readEosId(folder: string, config: Record<string, unknown>): number {
  let id = config['eos_token_id'];
  try {
    id = readJson(join(folder, 'generation_config.json'))['eos_token_id'] ?? id;
  } catch (thrown) {
    if (LockstepError.from(thrown).code !== 'checkpoint-missing') throw thrown;
  }
  if (Array.isArray(id)) id = id[0] as unknown;
  return typeof id === 'number' ? id : -1;
}

function readJson(path: string): Record<string, unknown> {
  const json = parseJson(read(path));
  if (json.text !== undefined && typeof json.value === 'object' && json.value !== null) return json.value as Record<string, unknown>;
  const what = json.text === undefined ? `:${json.line}:${json.column}: no JSON: ${json.problem}` : ': expected an object';
  throw new LockstepError('checkpoint-malformed', `${path}${what}`, { hint: 'Restore the file from where the checkpoint came from.' });
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new LockstepError('checkpoint-missing', `cannot read ${path}`, {
      hint: 'Point the checkpoint option at a Hugging Face folder with config.json and model.safetensors.',
      cause,
    });
  }
}
