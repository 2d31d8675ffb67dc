import type { TorchPath } from '#core/profile/index.ts';
import type { EngineSampling } from '../engine/types.ts';
import { pythonFloat } from '../fastapi/python-json.ts';

/** The LLM API's sampling parameters, as far as they reach an engine; undefined: nobody set it. */
export interface SamplingParams {
  readonly temperature?: number | undefined;
  readonly topK?: number | undefined;
  readonly topP?: number | undefined;
  readonly seed?: bigint | undefined;
  readonly repetitionPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
}

/** What SamplingParams looks at before it takes values. */
export interface CheckedValues extends Pick<SamplingParams, 'temperature' | 'topK' | 'topP'> {
  readonly greedy: boolean;
  readonly n: number;
  /** 0: not set, as in Python's `or`; then as many as are returned. */
  readonly bestOf: number;
}

/** Default of max_tokens (upstream `tensorrt_llm/sampling_params.py`). */
export const DEFAULT_MAX_TOKENS = 32;

/** Why SamplingParams refuses these values, in its own words, or undefined. */
export function samplingRefusal({ topP, topK, temperature, greedy, n, bestOf }: CheckedValues): string | undefined {
  const best = bestOf === 0 ? n : bestOf;
  if (topP !== undefined && (topP < 0 || topP > 1)) return `require 0 <= top_p <= 1, got top_p=${pythonFloat(topP)}`;
  if (topK !== undefined && topK < 0) return `require top_k >= 0, got top_k=${topK}`;
  if (temperature !== undefined && temperature < 0) return `require temperature >= 0, got temperature=${pythonFloat(temperature)}`;
  if (best < n) return `best_of (${best}) cannot be less than n (${n})`;
  if (best > 1 && greedy) {
    return (
      `Greedy decoding in the LLM API does not allow multiple returns. Please set to best_of=1, got best_of=${best}. ` +
      'Please set to best_of=1 or set an environment variable TLLM_ALLOW_N_GREEDY_DECODING=1 to allow best_of > 1 under the greedy decoding.'
    );
  }
  return undefined;
}

/**
 * What the sampler of the release makes of them. Unlike the TensorRT path, a temperature alone is enough to sample, and
 * temperature 0 or top_p 0 is greedy whatever else is set (docs/determinism.md#greedy).
 */
export function engineSampling(params: SamplingParams, torch: TorchPath): EngineSampling {
  const { temperature = 1, topK = 0, topP = 1 } = params;
  const penalties = torch.appliesPenalties.value
    ? { repetitionPenalty: params.repetitionPenalty, presencePenalty: params.presencePenalty, frequencyPenalty: params.frequencyPenalty }
    : {};
  const chosen = { ...(isGreedy(params) ? {} : { temperature, topK, topP }), seed: params.seed, ...penalties };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) as EngineSampling;
}

export function isGreedy({ temperature, topK, topP }: SamplingParams): boolean {
  const unset = temperature === undefined && topK === undefined && topP === undefined;
  return unset || topK === 1 || topP === 0 || temperature === 0;
}
