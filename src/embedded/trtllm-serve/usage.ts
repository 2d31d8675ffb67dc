/** In the key order of the real answers. cached_tokens is 0: this engine does not tell which blocks it found again (differences.ts). */
import type { Dumpable } from './dump.ts';

export function usage(promptTokens: number, completionTokens: number): Dumpable {
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
  };
}

/** What `stream_options` asks for. */
export interface UsageWish {
  readonly atEnd: boolean;
  readonly inEveryChunk: boolean;
}

interface StreamOptions {
  readonly include_usage: boolean | undefined;
  readonly continuous_usage_stats: boolean | undefined;
}

/** null inside the object counts as false; without the object there is no usage. */
export function usageWish(options: StreamOptions | undefined): UsageWish {
  const atEnd = options?.include_usage === true;
  return { atEnd, inEveryChunk: atEnd && options?.continuous_usage_stats === true };
}
