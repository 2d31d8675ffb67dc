/** One endpoint's way of saying the same things about one prompt. */
import type { Dumpable } from './dump.ts';
import type { LlmOutput } from '../llm-api/llm-output.ts';

export interface AnswerForm {
  /** Events for one response of the engine, the last one's usage included. Errors: whatever Python would raise. */
  events(output: LlmOutput): readonly string[];
  /** Errors: RequestFailure. */
  whole(output: LlmOutput): { readonly [key: string]: Dumpable };
}

/** Every engine iteration gives one token: there is no speculation. */
export const TOKENS_PER_ITERATION = 1;

export function event(json: string): string {
  return `data: ${json}\n\n`;
}
