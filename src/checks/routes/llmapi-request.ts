import type { Case } from '#core/request/index.ts';
import type { InferRequest } from '#wire/clients/index.ts';
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { EMPTY_FINAL } from './raw-request.ts';

/**
 * The inputs of the LLM API's model: shapes [1], without a batch dimension; stop strings BYTES [n]. Greedy: no sampling
 * input at all (docs/determinism.md#greedy).
 */
export function llmapiRequest(c: Case, id: string, text: string, model: string): InferRequest {
  const { limits, sampling } = c.request;
  const inputs: Tensor[] = [
    bytesTensor('text_input', [1], [text]),
    flag('streaming', c.mode === 'stream'),
    int32Tensor('sampling_param_max_tokens', [1], [limits.maxTokens]),
    flag('sampling_param_exclude_input_from_output', true),
    flag('return_finish_reason', true),
  ];
  const { stopWords = [] } = limits;
  if (stopWords.length > 0) inputs.push(bytesTensor('sampling_param_stop', [stopWords.length], stopWords));
  if (sampling.kind === 'sampled') {
    if (sampling.topK !== undefined) inputs.push(int32Tensor('sampling_param_top_k', [1], [sampling.topK]));
    if (sampling.topP !== undefined) inputs.push(fp32Tensor('sampling_param_top_p', [1], [sampling.topP]));
    if (sampling.temperature !== undefined) inputs.push(fp32Tensor('sampling_param_temperature', [1], [sampling.temperature]));
    inputs.push(uint64Tensor('sampling_param_seed', [1], [BigInt(sampling.seed)]));
  }
  return { model, id, inputs, parameters: EMPTY_FINAL };
}

/** The order that stops another request of the same id; text_input must be there all the same. */
export function llmapiStopRequest(model: string, id: string): InferRequest {
  return { model, id, inputs: [bytesTensor('text_input', [1], ['']), flag('stop', true)], parameters: EMPTY_FINAL };
}

function flag(name: string, value: boolean): Tensor {
  return boolTensor(name, [1], [value]);
}
