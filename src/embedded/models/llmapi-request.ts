import type { TorchPath } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { ModelRequest } from '../core/index.ts';
import type { EngineRequest } from '../engine/types.ts';
import { pythonFloat } from '../fastapi/python-json.ts';
import { type Stop, stopStrings } from '../llm-api/llm-output.ts';
import { DEFAULT_MAX_TOKENS, engineSampling, isGreedy, type SamplingParams, samplingRefusal } from '../llm-api/sampling-params.ts';
import { strictUtf8 } from './python-text.ts';
import { boolAt, decodeBytesElements, fp32At, int32At, optional, uint64At } from './values.ts';

/** Which of the texts about an answer are sent with it, and whether its metrics are. */
export interface LlmapiReturns {
  readonly finishReason: boolean;
  readonly stopReason: boolean;
  readonly cumulativeLogProb: boolean;
  readonly perfMetrics: boolean;
}

export interface LlmapiRequest {
  readonly streaming: boolean;
  readonly excludesInput: boolean;
  readonly engine: EngineRequest;
  readonly stops: readonly Stop[];
  readonly returns: LlmapiReturns;
}

export interface LlmapiReading {
  readonly tokenizer: Tokenizer;
  readonly torch: TorchPath;
  /** The longest prompt that fits one step of the engine. */
  readonly maxNumTokens: number;
}

/** Reads a request as the model does. Throws Error with the text that stands behind `Error generating request: `. */
export function llmapiRequest(request: ModelRequest, { tokenizer, torch, maxNumTokens }: LlmapiReading): LlmapiRequest {
  const promptIds = Int32Array.from(tokenizer.encode(promptOf(request), { addSpecialTokens: true }));
  const params: SamplingParams = {
    temperature: fp32At(request, 'sampling_param_temperature', 0),
    topK: int32At(request, 'sampling_param_top_k', 0),
    topP: fp32At(request, 'sampling_param_top_p', 0),
    seed: uint64At(request, 'sampling_param_seed', 0),
    presencePenalty: fp32At(request, 'sampling_param_presence_penalty', 0),
    frequencyPenalty: fp32At(request, 'sampling_param_frequency_penalty', 0),
  };
  const bestOf = int32At(request, 'sampling_param_best_of', 0) ?? 1;
  const refused = samplingRefusal({ ...params, greedy: isGreedy(params), n: 1, bestOf });
  if (refused !== undefined) throw new Error(refused);
  const stops = stopsOf(request, tokenizer, torch);
  if (promptIds.length > maxNumTokens) {
    const length = pythonFloat(promptIds.length);
    throw new Error(`The sum of prompt length (${length}), query length (0) should not exceed max_num_tokens (${maxNumTokens})`);
  }
  return {
    streaming: boolAt(request, 'streaming', 0),
    excludesInput: boolAt(request, 'sampling_param_exclude_input_from_output', 0),
    stops,
    returns: {
      finishReason: boolAt(request, 'return_finish_reason', 0),
      stopReason: boolAt(request, 'return_stop_reason', 0),
      cumulativeLogProb: boolAt(request, 'return_cumulative_logprob', 0),
      perfMetrics: boolAt(request, 'sampling_param_return_perf_metrics', 0),
    },
    engine: {
      id: request.id,
      promptIds,
      maxTokens: int32At(request, 'sampling_param_max_tokens', 0) ?? DEFAULT_MAX_TOKENS,
      endId: tokenizer.eosId ?? -1,
      minTokens: 0,
      stopWords: stops.map(({ ids }) => ids),
      badWords: [],
      embeddingBias: undefined,
      sampling: engineSampling(params, torch),
      wantLogProbs: false,
      wantLogits: false,
    },
  };
}

function promptOf(request: ModelRequest): string {
  const tensor = optional(request, 'text_input');
  if (tensor === undefined) throw new Error('text_input is missing from the request');
  const [first] = decodeBytesElements(tensor.data);
  if (first === undefined) throw new Error('index 0 is out of bounds for axis 0 with size 0');
  return strictUtf8(first);
}

/** Elements of a BYTES tensor reach the tokenizer as they are; its words are those of tokenizers 0.22. */
function stopsOf(request: ModelRequest, tokenizer: Tokenizer, torch: TorchPath): readonly Stop[] {
  const elements = decodeBytesElements(optional(request, 'sampling_param_stop')?.data ?? new Uint8Array());
  if (elements.length > 0 && !torch.llmapiTakesStopStrings.value) throw new Error('TextInputSequence must be str');
  return stopStrings(
    elements.map((bytes) => strictUtf8(bytes)),
    tokenizer,
  );
}
