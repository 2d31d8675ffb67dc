/** The neutral words for what is asked: a request knows nothing of tensors, routes or transports. */

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export type Prompt =
  /** Plain text; the tokenizer's own BOS is added on every route. */
  | { readonly kind: 'text'; readonly text: string }
  /** A conversation; the tokenizer's chat template renders it, generation prompt included. */
  | { readonly kind: 'messages'; readonly messages: readonly ChatMessage[] }
  /** Token ids as they are; only the raw route can send them. */
  | { readonly kind: 'ids'; readonly ids: readonly number[] };

/** Greedy is a kind of its own, since each route spells it differently (docs/determinism.md). */
export type Sampling =
  | { readonly kind: 'greedy' }
  | {
      readonly kind: 'sampled';
      readonly seed: number;
      readonly temperature?: number;
      readonly topK?: number;
      readonly topP?: number;
    };

export interface Limits {
  /** The largest number of generated tokens. */
  readonly maxTokens: number;
  /** EOS is suppressed until this many tokens were generated. */
  readonly minTokens?: number;
  /** Phrases that end the answer; the phrase stays visible on TensorRT-LLM routes. */
  readonly stopWords?: readonly string[];
  /** False: end_id is not sent to the raw model, which then never stops at EOS. Text routes cannot ask for this. */
  readonly stopAtEos?: boolean;
}

export interface Request {
  /** Stable, readable, unique within a plan; goldens and fixtures are named after it. */
  readonly id: string;
  readonly prompt: Prompt;
  readonly sampling: Sampling;
  readonly limits: Limits;
}

/** A way through a target. Only `raw` shows token ids. */
export type RouteId = 'raw' | 'ensemble' | 'bls' | 'bls-accumulate' | 'llmapi' | 'generate' | 'openai-completions' | 'openai-chat';
export const ROUTE_IDS: readonly RouteId[] = [
  'raw',
  'ensemble',
  'bls',
  'bls-accumulate',
  'llmapi',
  'generate',
  'openai-completions',
  'openai-chat',
];

export type Mode = 'stream' | 'unary';

/** One request on one route and mode; `repeat` tells equal cases of one run apart. */
export interface Case {
  readonly request: Request;
  readonly route: RouteId;
  readonly mode: Mode;
  readonly repeat: number;
}

/** For reports and file names: `colours-03 on ensemble, stream, repeat 2`. */
export function describeCase(c: Case): string {
  return `${c.request.id} on ${c.route}, ${c.mode}${c.repeat > 0 ? `, repeat ${c.repeat}` : ''}`;
}
