/**
 * From a request to what the LLM API and the engine are asked for: defaults, limits, refusals.
 * Source: to_sampling_params (tensorrt_llm/serve/openai_protocol.py), SamplingParams (tensorrt_llm/sampling_params.py);
 * docs/observed.md#trtllm-serve.
 */
import type { TorchPath, TrtllmServeProfile } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { EngineSampling } from '../engine/types.ts';
import { type OutputParams, type Stop, stopStrings } from '../llm-api/llm-output.ts';
import { samplingRefusal } from '../llm-api/sampling-params.ts';
import { pythonRepr } from '../fastapi/index.ts';
import { RequestFailure } from './bad-request.ts';
import type { ChatRequest, CompletionRequest } from './request-schema.ts';

export interface SamplingParams extends OutputParams {
  /** Undefined: whatever is left of max_seq_len. */
  readonly maxTokens: number | undefined;
  readonly minTokens: number;
  readonly endId: number;
  readonly engine: EngineSampling;
  readonly embeddingBias: Float32Array | undefined;
  /** How many log-probabilities per token; 0: none. */
  readonly logProbs: number;
}

export interface SamplingContext {
  readonly tokenizer: Tokenizer;
  readonly vocabSize: number;
  readonly facts: TrtllmServeProfile;
  readonly torch: TorchPath;
  readonly faults: ReadonlySet<string>;
}

type Common = CompletionRequest | ChatRequest;
interface Own {
  readonly maxTokens: bigint | undefined;
  readonly logProbs: bigint;
  readonly detokenize: boolean;
}

export function completionSampling(request: CompletionRequest, context: SamplingContext): SamplingParams {
  return sampling(request, context, {
    maxTokens: request.max_tokens,
    logProbs: request.logprobs ?? 0n,
    detokenize: request.detokenize,
  });
}

export function chatSampling(request: ChatRequest, context: SamplingContext): SamplingParams {
  const top = request.top_logprobs ?? 0n;
  return sampling(request, context, {
    maxTokens: request.max_completion_tokens,
    logProbs: request.logprobs !== true ? 0n : top === 0n ? 1n : top,
    detokenize: true,
  });
}

function sampling(request: Common, context: SamplingContext, own: Own): SamplingParams {
  const { tokenizer, torch } = context;
  if (request.n > 1n && !context.facts.severalChoices.value)
    throw new RequestFailure('Multiple response is not supported in PyTorch workflow');
  refuseFormat(request.response_format, context.facts.jsonSchema.value);
  const embeddingBias = embeddingBiasOf(request.logit_bias, context.vocabSize);
  const temperature = request.temperature ?? 1;
  const topP = request.top_p ?? 1;
  const topK = Number(request.top_k);
  const greedy = !request.use_beam_search && (temperature === 0 || topP === 0 || topK === 1);
  const refused = samplingRefusal({ temperature, topP, topK, greedy, n: Number(request.n), bestOf: Number(request.best_of ?? 0n) });
  if (refused !== undefined) throw new RequestFailure(refused);
  // This engine's own: it draws one answer, so that the best of several cannot be found (differences.ts).
  if (request.n > 1n || (request.best_of ?? 0n) > 1n) throw new RequestFailure('n and best_of above 1 are not supported by this engine');
  const penalties = torch.appliesPenalties.value
    ? {
        repetitionPenalty: request.repetition_penalty,
        presencePenalty: request.presence_penalty ?? 0,
        frequencyPenalty: request.frequency_penalty ?? 0,
      }
    : {};
  return {
    maxTokens: own.maxTokens === undefined ? undefined : Number(own.maxTokens),
    // Fault min-tokens-not-enforced-serve: the limit ends here.
    minTokens: context.faults.has('min-tokens-not-enforced-serve') ? 0 : Number(request.min_tokens),
    endId: request.ignore_eos ? -1 : (tokenizer.eosId ?? -1),
    stops: stopsOf(request, tokenizer),
    includeStop: request.include_stop_str_in_output,
    engine: {
      // A search of one beam, the only one here, takes the best token each time.
      ...(greedy || request.use_beam_search ? { topK: 1 } : { temperature, topP, ...(topK > 0 ? { topK } : {}) }),
      ...(request.seed === undefined ? {} : { seed: BigInt.asUintN(64, request.seed) }),
      ...penalties,
    },
    embeddingBias,
    detokenize: own.detokenize,
    skipSpecialTokens: request.skip_special_tokens,
    spacesBetweenSpecialTokens: request.spaces_between_special_tokens,
    logProbs: Number(own.logProbs),
  };
}

function refuseFormat(format: Common['response_format'], withJsonSchema: boolean): void {
  if (format === undefined) return;
  const missing = (field: string) =>
    `response_format.${field} is required for response_format.type == ${pythonRepr(format.type)}, but got None.`;
  if (format.type === 'json' && format.schema === undefined) {
    throw new RequestFailure(withJsonSchema ? missing('schema') : "The 'schema' field is required when response_format.type is 'json'.");
  }
  if (format.type === 'json_schema' && format.json_schema === undefined) throw new RequestFailure(missing('json_schema'));
}

function embeddingBiasOf(biases: ReadonlyMap<string, number> | undefined, vocabSize: number): Float32Array | undefined {
  if (biases === undefined) return undefined;
  const bias = new Float32Array(vocabSize);
  for (const [key, value] of biases) {
    if (!/^\s*[-+]?[0-9]+(?:_[0-9]+)*\s*$/.test(key))
      throw new RequestFailure(`Invalid logit_bias key '${key}': must be a valid integer token ID`);
    const id = Number(key.replaceAll('_', ''));
    if (id < 0 || id >= vocabSize) throw new RequestFailure(`Token ID ${id} out of vocabulary range [0, ${vocabSize})`);
    bias[id] = value;
  }
  return bias;
}

/** Token ids first, then strings. */
function stopsOf(request: Common, tokenizer: Tokenizer): Stop[] {
  const { stop } = request;
  const texts = stop === undefined ? [] : typeof stop === 'string' ? [stop] : stop;
  return [...(request.stop_token_ids ?? []).map((id) => ({ reason: Number(id), ids: [Number(id)] })), ...stopStrings(texts, tokenizer)];
}
