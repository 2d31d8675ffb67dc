/** Right requests to the four stock models, to be sent as they are or bent by one detail. */
import { type Tensor, boolTensor, bytesTensor, int32Tensor } from '#wire/protocol/tensors.ts';
import type { Infer } from './wire.ts';

export const int32 = int32Tensor;
export const bytes = bytesTensor;
export const bool = boolTensor;

/** Answered at length, by the checkpoint tiny as it is meant; what rows say to which checkpoint is in `dialects`. */
export const COUNT = '<|user|>Count from 1 to 9.<|assistant|>';

export function ensemble(text: string, maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer {
  return { model: 'ensemble', inputs: [bytes('text_input', [1, 1], [text]), int32('max_tokens', [1, 1], [maxTokens]), ...more], ...rest };
}

export const streaming = bool('stream', [1, 1], [true]);

export function preprocessing(query: readonly (string | Uint8Array)[], length: readonly number[], more: readonly Tensor[] = []): Infer {
  return {
    model: 'preprocessing',
    inputs: [bytes('QUERY', [query.length, 1], query), int32('REQUEST_OUTPUT_LEN', [length.length, 1], length), ...more],
  };
}

/** TOKENS_BATCH INT32 `shape` = [batch, beams, n], and SEQUENCE_LENGTH, one row per prompt. */
export function postprocessing(shape: readonly number[], ids: readonly number[], lengths: readonly (readonly number[])[]): Infer {
  return {
    model: 'postprocessing',
    inputs: [int32('TOKENS_BATCH', shape, ids), int32('SEQUENCE_LENGTH', [lengths.length, lengths[0]?.length ?? 0], lengths.flat())],
  };
}

export function raw(ids: readonly number[], maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer {
  return {
    model: 'tensorrt_llm',
    inputs: [
      int32('input_ids', [1, ids.length], ids),
      int32('input_lengths', [1, 1], [ids.length]),
      int32('request_output_len', [1, 1], [maxTokens]),
      ...more,
    ],
    ...rest,
  };
}

export const EMPTY_FINAL = { triton_enable_empty_final_response: { bool_param: true } };
