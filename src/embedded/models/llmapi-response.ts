import type { CoreTensor } from '../core/index.ts';
import type { LlmOutput } from '../llm-api/llm-output.ts';
import type { LlmapiReturns } from './llmapi-request.ts';
import { bytesTensor } from './values.ts';

/** Times in ns of one clock, 0: not yet; blocks of the cache that prompt and answer take. */
export interface LlmapiMetrics {
  readonly arrivalNs: number;
  readonly firstTokenNs: number;
  readonly lastTokenNs: number;
  readonly blocks: number;
}

/**
 * text_output BYTES [1], then what was asked for: finish_reason, stop_reason, cumulative_logprob, and twelve metrics.
 * All are BYTES [1], Python's `str()` of the value, whatever the configuration declares.
 */
export function llmapiResponse(
  output: LlmOutput,
  returns: LlmapiReturns,
  { arrivalNs, firstTokenNs, lastTokenNs, blocks }: LlmapiMetrics,
): CoreTensor[] {
  const text = (name: string, value: string | number | null): CoreTensor =>
    bytesTensor(name, [1], [value === null ? 'None' : String(value)]);
  const out = [text('text_output', output.text)];
  if (returns.finishReason) out.push(text('finish_reason', output.finishReason));
  if (returns.stopReason) out.push(text('stop_reason', output.stopReason));
  // No input of the model asks for log-probabilities.
  if (returns.cumulativeLogProb) out.push(text('cumulative_logprob', null));
  if (!returns.perfMetrics) return out;
  const whole = (value: number): string => String(Math.round(value));
  const metrics: readonly (readonly [string, string])[] = [
    ['kv_cache_reused_block', '0'],
    ['kv_cache_hit_rate', '0.0'],
    ['kv_cache_alloc_new_blocks', whole(blocks)],
    ['kv_cache_alloc_total_blocks', whole(blocks)],
    ['kv_cache_missed_block', whole(blocks)],
    ['arrival_time_ns', whole(arrivalNs)],
    ['first_scheduled_time_ns', whole(arrivalNs)],
    ['first_token_time_ns', whole(firstTokenNs)],
    ['last_token_time_ns', whole(lastTokenNs)],
    ['acceptance_rate', '0.0'],
    ['total_accepted_draft_tokens', '0'],
    ['total_draft_tokens', '0'],
  ];
  return [...out, ...metrics.map(([name, value]) => text(name, value))];
}
