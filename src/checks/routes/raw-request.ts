import type { Case } from '#core/request/index.ts';
import type { InferRequest } from '#wire/clients/index.ts';
import { boolTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { wordListTensor } from './stop-words.ts';
import type { RouteContext, RunOptions } from './types.ts';

/** Asks for an explicit last message where the back end ends with a bare flag. */
export const EMPTY_FINAL: Readonly<Record<string, boolean>> = { triton_enable_empty_final_response: true };

const one = (name: string, value: number): Tensor => int32Tensor(name, [1, 1], [value]);
const flag = (name: string, value: boolean): Tensor => boolTensor(name, [1, 1], [value]);

/**
 * The tensors of `tensorrt_llm` (scalars INT32, FP32, UINT64, BOOL [1, 1]). Greedy is spelled by leaving every sampling
 * tensor out: temperature 0 with top_p would sample from the whole distribution (docs/determinism.md#greedy).
 */
export function rawRequest(c: Case, id: string, ids: Int32Array, context: RouteContext, options: RunOptions): InferRequest {
  const { limits, sampling } = c.request;
  const { tokenizer } = context;
  const names = context.profile.models;
  const inputs: Tensor[] = [
    int32Tensor('input_ids', [1, ids.length], ids),
    one('input_lengths', ids.length),
    one('request_output_len', limits.maxTokens),
    flag('streaming', c.mode === 'stream'),
    flag('exclude_input_in_output', true),
  ];
  if (limits.stopAtEos !== false && tokenizer.eosId !== undefined) {
    inputs.push(one('end_id', tokenizer.eosId), one('pad_id', tokenizer.padId ?? tokenizer.eosId));
  }
  if (limits.stopWords !== undefined && limits.stopWords.length > 0) {
    inputs.push(
      wordListTensor(
        'stop_words_list',
        limits.stopWords.map((word) => tokenizer.encode(word, { addSpecialTokens: false })),
      ),
    );
  }
  if (limits.minTokens !== undefined) inputs.push(one(names.minTokensTensor.value, limits.minTokens));
  if (sampling.kind === 'sampled') {
    if (sampling.topK !== undefined) inputs.push(one('runtime_top_k', sampling.topK));
    if (sampling.topP !== undefined) inputs.push(fp32Tensor('runtime_top_p', [1, 1], [sampling.topP]));
    if (sampling.temperature !== undefined) inputs.push(fp32Tensor('temperature', [1, 1], [sampling.temperature]));
    inputs.push(uint64Tensor(names.seedTensor.value, [1, 1], [BigInt(sampling.seed)]));
  }
  if (options.logProbs) inputs.push(flag('return_log_probs', true));
  if (options.margins) inputs.push(flag('return_generation_logits', true));
  if (names.returnsTokenCounts.value) inputs.push(flag('return_num_input_tokens', true), flag('return_num_output_tokens', true));
  return { model: context.models.raw, id, inputs, parameters: EMPTY_FINAL };
}

/**
 * The request that stops another one of the same id. The model wants its required tensors even here: one prompt id,
 * both lengths 0, as the reference client sends them (tensorrtllm_backend inflight_batcher_llm/client).
 */
export function stopRequest(model: string, id: string): InferRequest {
  const inputs = [int32Tensor('input_ids', [1, 1], [1]), one('input_lengths', 0), one('request_output_len', 0), flag('stop', true)];
  return { model, id, inputs, parameters: EMPTY_FINAL };
}
