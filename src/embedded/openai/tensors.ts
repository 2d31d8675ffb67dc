/**
 * A request as tensors for a TensorRT-LLM style model, in the order and with the types of the real front end.
 * Source: _create_trtllm_generate_request, python/openai/openai_frontend/engine/utils/triton.py (r25.12);
 * docs/observed.md#openai-front-end-r25-12.
 */
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { httpException } from '../fastapi/index.ts';
import type { ChatRequest, CompletionRequest } from './request-schema.ts';

/** What both endpoints have; chat has more. */
export type SamplingFields = Pick<
  CompletionRequest,
  'stream' | 'stop' | 'top_p' | 'frequency_penalty' | 'presence_penalty' | 'seed' | 'temperature'
>;

export interface TensorOptions {
  readonly prompt: string;
  readonly maxTokens: bigint;
  /** Name and value of the switch that keeps the prompt out of the text; undefined: not sent. */
  readonly echo: { readonly tensor: string; readonly exclude: boolean } | undefined;
  /** JSON schema of the one tool that must be called. */
  readonly guide: string | undefined;
  /** False only under the fault usage-null-trtllm: the front end up to 25.10 did not ask for counts. */
  readonly askForCounts: boolean;
}

const MAX_LONG = 9223372036854775807n;

export function requestTensors(request: SamplingFields, options: TensorOptions): Tensor[] {
  const tensors = [
    bytesTensor('text_input', [1, 1], [options.prompt]),
    boolTensor('stream', [1, 1], [request.stream ?? false]),
    int32Tensor('max_tokens', [1, 1], [wrapped(options.maxTokens)]),
  ];
  const stop = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
  if (request.stop !== '' && stop.length > 0) tensors.push(bytesTensor('stop_words', [1, stop.length], stop));
  const float = (name: string, value: number | undefined) => {
    if (value !== undefined) tensors.push(fp32Tensor(name, [1, 1], [value]));
  };
  float('top_p', request.top_p);
  float('frequency_penalty', request.frequency_penalty);
  float('presence_penalty', request.presence_penalty);
  // A negative seed wraps, as in NumPy 1.26; NumPy 2 fails instead.
  if (request.seed !== undefined) tensors.push(uint64Tensor('seed', [1, 1], [BigInt.asUintN(64, request.seed)]));
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

/** np.int32 of a Python integer, NumPy 1.26: wraps up to 64 bits. */
function wrapped(value: bigint): number {
  if (value > MAX_LONG) throw httpException(500, 'Python int too large to convert to C long');
  return Number(BigInt.asIntN(32, value));
}

export function chatMaxTokens(request: ChatRequest, fallback: number): bigint {
  return request.max_completion_tokens ?? request.max_tokens ?? BigInt(fallback);
}
