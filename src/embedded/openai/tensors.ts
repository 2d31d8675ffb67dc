/**
 * A request as tensors for a TensorRT-LLM style model, in the order and with the types of the real front end.
 * Source: _create_trtllm_generate_request, python/openai/openai_frontend/engine/utils/triton.py (r25.12);
 * docs/observed.md#openai-front-end-r25-12.
 */
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import type { OpenAiProfile } from '#core/profile/index.ts';
import type { CompletionRequest } from './request-schema.ts';
import { ServerFailure } from './server-failure.ts';

/** What both endpoints have; chat has more. */
export type SamplingFields = Pick<
  CompletionRequest,
  'stream' | 'stop' | 'top_p' | 'frequency_penalty' | 'presence_penalty' | 'seed' | 'temperature'
>;

export interface TensorOptions {
  readonly prompt: string;
  /** Undefined: not sent. */
  readonly maxTokens: bigint | undefined;
  /** Name and value of the switch that keeps the prompt out of the text; undefined: not sent. */
  readonly echo: { readonly tensor: string; readonly exclude: boolean } | undefined;
  /** JSON schema of the one tool that must be called. */
  readonly guide: string | undefined;
  readonly askForCounts: boolean;
  readonly profile: Pick<OpenAiProfile, 'seedTensor' | 'integerOverflow'>;
}

export function requestTensors(request: SamplingFields, options: TensorOptions): Tensor[] {
  const tensors = [bytesTensor('text_input', [1, 1], [options.prompt]), boolTensor('stream', [1, 1], [request.stream ?? false])];
  const fits = options.profile.integerOverflow.value === 'fails' ? refused : wrapped;
  if (options.maxTokens !== undefined) tensors.push(int32Tensor('max_tokens', [1, 1], [Number(fits(options.maxTokens, 'int32'))]));
  const stop = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
  if (request.stop !== '' && stop.length > 0) tensors.push(bytesTensor('stop_words', [1, stop.length], stop));
  const float = (name: string, value: number | undefined) => {
    if (value !== undefined) tensors.push(fp32Tensor(name, [1, 1], [value]));
  };
  float('top_p', request.top_p);
  float('frequency_penalty', request.frequency_penalty);
  float('presence_penalty', request.presence_penalty);
  if (request.seed !== undefined) tensors.push(uint64Tensor(options.profile.seedTensor.value, [1, 1], [fits(request.seed, 'uint64')]));
  float('temperature', request.temperature);
  if (options.echo !== undefined) tensors.push(boolTensor(options.echo.tensor, [1, 1], [options.echo.exclude]));
  if (options.guide !== undefined) {
    tensors.push(
      bytesTensor('guided_decoding_guide_type', [1, 1], ['json_schema']),
      bytesTensor('guided_decoding_guide', [1, 1], [options.guide]),
    );
  }
  if (options.askForCounts) {
    tensors.push(boolTensor('return_num_input_tokens', [1, 1], [true]), boolTensor('return_num_output_tokens', [1, 1], [true]));
  }
  return tensors;
}

type IntegerType = 'int32' | 'uint64';
const IN_RANGE: Readonly<Record<IntegerType, (value: bigint) => bigint>> = {
  int32: (value) => BigInt.asIntN(32, value),
  uint64: (value) => BigInt.asUintN(64, value),
};
const MAX_LONG = 9223372036854775807n;

/** A Python integer as NumPy 1.26 takes it: wraps up to 64 bits. */
function wrapped(value: bigint, type: IntegerType): bigint {
  if (value > MAX_LONG) throw new ServerFailure('Python int too large to convert to C long');
  return IN_RANGE[type](value);
}

/** The same with NumPy 2. */
function refused(value: bigint, type: IntegerType): bigint {
  wrapped(value, type);
  if (IN_RANGE[type](value) !== value) throw new ServerFailure(`Python integer ${value} out of bounds for ${type}`);
  return value;
}

/** What is sent as max_tokens: the first of the request's values that is not null, and the default where none is. */
export function maxTokens(asked: readonly (bigint | undefined)[], profile: OpenAiProfile): bigint | undefined {
  const value = asked.find((one) => one !== undefined);
  if (profile.emptyMaxTokens.value === 'not-sent') return value === 0n ? undefined : value;
  return value ?? BigInt(profile.defaultMaxTokens.value);
}
