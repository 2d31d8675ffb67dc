import { servesTrtllm } from '#checks/laws/trtllm-serve.ts';
import type { ModelsProfile, ReleaseProfile } from '#core/profile/index.ts';
import { ROUTE_IDS, type RouteId } from '#core/request/index.ts';
import type { Word } from './words.ts';

/** What a route talks to: a model of the repository, or an endpoint of the OpenAI front end. */
export type Surface = 'tensorrt_llm' | 'ensemble' | 'tensorrt_llm_bls' | 'llmapi' | 'completions' | 'chat' | 'trtllm-serve';

const SURFACE_OF: Readonly<Record<RouteId, Surface>> = {
  raw: 'tensorrt_llm',
  ensemble: 'ensemble',
  llmapi: 'llmapi',
  bls: 'tensorrt_llm_bls',
  'bls-accumulate': 'tensorrt_llm_bls',
  generate: 'ensemble',
  'openai-completions': 'completions',
  'openai-chat': 'chat',
};

/** trtllm-serve has one vocabulary for both of its endpoints, and it is not that of NVIDIA's front end. */
export function surfaceOf(route: RouteId, profile: ReleaseProfile): Surface {
  return servesTrtllm(route, profile) ? 'trtllm-serve' : SURFACE_OF[route];
}

/** The routes that probes ask: bls-accumulate differs from bls in how it cuts a stream, and in nothing that it is asked. */
export const PROBED_ROUTES: readonly RouteId[] = ROUTE_IDS.filter((route) => route !== 'bls-accumulate');

/** How the value travels. `phrases` and `bias` are token ids on tensorrt_llm, which has no tokenizer, and text elsewhere. */
export type Kind = 'int32' | 'fp32' | 'uint64' | 'bool' | 'phrases' | 'bias';

export interface Spelling {
  readonly kind: Kind;
  /** Names by surface; a surface that is left out has no such input. */
  readonly names: Partial<Readonly<Record<Surface, string>>>;
}

type Names = Spelling['names'];

/** tensorrt_llm and the two that stand before it, which have one vocabulary. */
const models = (raw: string, text = raw): Names => ({ tensorrt_llm: raw, ensemble: text, tensorrt_llm_bls: text });
/** The LLM API's model: scalars [1], without a batch dimension. Its stop strings are judged by the law `stop-words`. */
const llmapi = (name: string): Names => ({ llmapi: `sampling_param_${name}` });
const frontEnd = (name: string): Names => ({ completions: name, chat: name, ...serve(name) });
const serve = (name: string): Names => ({ 'trtllm-serve': name });

/**
 * The spelling of every word. Scalars are [batch, 1] tensors (INT32, FP32, UINT64, BOOL) or bare JSON values.
 *
 * Source: TensorRT-LLM triton_backend/all_models/inflight_batcher_llm config.pbtxt files, as in docker/models; for the
 * OpenAI front end docs/observed.md#openai-front-end-r25-12.
 */
const made = new WeakMap<ModelsProfile, Readonly<Record<Word, Spelling>>>();

export function spellings(models: ModelsProfile): Readonly<Record<Word, Spelling>> {
  let known = made.get(models);
  if (known === undefined) made.set(models, (known = spellingsOf(models)));
  return known;
}

function spellingsOf({
  minTokensTensor,
  seedTensor,
  returnsTokenCounts,
  ensembleExcludeInput,
}: ModelsProfile): Readonly<Record<Word, Spelling>> {
  return {
    maxTokens: {
      kind: 'int32',
      names: { ...models('request_output_len', 'max_tokens'), ...llmapi('max_tokens'), ...frontEnd('max_tokens') },
    },
    maxCompletionTokens: { kind: 'int32', names: { chat: 'max_completion_tokens' } },
    minTokens: { kind: 'int32', names: { ...models(minTokensTensor.value), ...serve('min_tokens') } },
    endId: { kind: 'int32', names: models('end_id') },
    stopWords: { kind: 'phrases', names: { ...models('stop_words_list', 'stop_words'), completions: 'stop', chat: 'stop' } },
    badWords: { kind: 'phrases', names: models('bad_words_list', 'bad_words') },
    bias: { kind: 'bias', names: models('embedding_bias', 'embedding_bias_words') },
    temperature: { kind: 'fp32', names: { ...models('temperature'), ...llmapi('temperature'), ...frontEnd('temperature') } },
    topK: { kind: 'int32', names: { ...models('runtime_top_k', 'top_k'), ...llmapi('top_k'), ...serve('top_k') } },
    topP: { kind: 'fp32', names: { ...models('runtime_top_p', 'top_p'), ...llmapi('top_p'), ...frontEnd('top_p') } },
    topPDecay: { kind: 'fp32', names: { tensorrt_llm: 'runtime_top_p_decay' } },
    topPMin: { kind: 'fp32', names: { tensorrt_llm: 'runtime_top_p_min' } },
    topPResetId: { kind: 'int32', names: { tensorrt_llm: 'runtime_top_p_reset_ids' } },
    seed: { kind: 'uint64', names: { ...models(seedTensor.value), ...llmapi('seed'), ...frontEnd('seed') } },
    repetitionPenalty: { kind: 'fp32', names: { ...models('repetition_penalty'), ...serve('repetition_penalty') } },
    presencePenalty: {
      kind: 'fp32',
      names: { ...models('presence_penalty'), ...llmapi('presence_penalty'), ...frontEnd('presence_penalty') },
    },
    frequencyPenalty: {
      kind: 'fp32',
      names: { ...models('frequency_penalty'), ...llmapi('frequency_penalty'), ...frontEnd('frequency_penalty') },
    },
    beamWidth: { kind: 'int32', names: models('beam_width') },
    lengthPenalty: { kind: 'fp32', names: models('len_penalty', 'length_penalty') },
    beamDiversity: { kind: 'fp32', names: { tensorrt_llm: 'beam_search_diversity_rate' } },
    earlyStopping: { kind: 'bool', names: { tensorrt_llm: 'early_stopping' } },
    sequences: { kind: 'int32', names: models('num_return_sequences') },
    logProbs: { kind: 'bool', names: models('return_log_probs') },
    generationLogits: { kind: 'bool', names: models('return_generation_logits') },
    contextLogits: { kind: 'bool', names: models('return_context_logits') },
    perfMetrics: { kind: 'bool', names: models('return_perf_metrics') },
    countInput: { kind: 'bool', names: returnsTokenCounts.value ? models('return_num_input_tokens') : {} },
    countOutput: { kind: 'bool', names: returnsTokenCounts.value ? models('return_num_output_tokens') : {} },
    excludeInput: {
      kind: 'bool',
      names: {
        ...(ensembleExcludeInput.value ? models('exclude_input_in_output') : { tensorrt_llm: 'exclude_input_in_output' }),
        ...llmapi('exclude_input_from_output'),
      },
    },
    echo: { kind: 'bool', names: { completions: 'echo' } },
    stream: { kind: 'bool', names: { ...models('streaming', 'stream'), ...frontEnd('stream') } },
  };
}
