import type { EngineRequest } from './types.ts';

/** The longest prompt: one position must be left for an answer (TensorRT-LLM: max_input_len = max_seq_len - 1). */
const maxInputLen = (maxSeqLen: number) => maxSeqLen - 1;

/**
 * The engine's refusal of a request, or undefined.
 *
 * Text of an over-long prompt: TensorRT-LLM cpp/include/tensorrt_llm/batch_manager/llmRequest.h. The other two texts
 * are this engine's own.
 */
export function refusal(request: EngineRequest, maxSeqLen: number): string | undefined {
  const length = request.promptIds.length;
  if (length === 0) return 'Input tokens must not be empty';
  if (!(request.maxTokens > 0)) return `Number of new tokens (${request.maxTokens}) must be larger than 0`;
  if (length > maxInputLen(maxSeqLen)) {
    return `Prompt length (${length}) exceeds maximum input length (${maxInputLen(maxSeqLen)}). Set log level to info and check TRTGptModel logs for how maximum input length is set`;
  }
  return undefined;
}

/** New ids that a request can get: what it asked for, clipped at admission so that prompt and answer fit. */
export function clippedMaxTokens(request: EngineRequest, maxSeqLen: number): number {
  return Math.min(request.maxTokens, maxSeqLen - request.promptIds.length);
}

/** Whether the first `length` tokens end with `words[i]` for some i, id by id. An empty word never matches. */
export function endsWithAny(words: readonly (readonly number[])[], tokens: Int32Array, length: number): boolean {
  return words.some((word) => word.length > 0 && endsWith(word, tokens, length));
}

export function endsWith(word: readonly number[], tokens: Int32Array, length: number): boolean {
  if (word.length > length) return false;
  for (let i = 0; i < word.length; i++) if (tokens[length - word.length + i] !== word[i]) return false;
  return true;
}
