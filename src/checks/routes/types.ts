/** A route turns a request into a transcript; everything after it sees transcripts only. */
import type { Case, Mode, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { CallTap, Clients } from '#wire/clients/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';

export interface RouteContext {
  readonly clients: Clients;
  readonly tokenizer: Tokenizer;
  readonly profile: ReleaseProfile;
  /** Model names, as the target's repository calls them. */
  readonly models: Readonly<Record<'raw' | 'ensemble' | 'openai' | 'bls' | 'blsAccumulate' | 'llmapi', string>>;
}

/**
 * The names in a stock TensorRT-LLM repository; the OpenAI front end serves the ensemble under its own name. A stock
 * repository has one BLS, with or without accumulate_tokens; the second one here stands in docker/models beside it.
 * The LLM API's model is called tensorrt_llm in its own repository; here it stands beside the engine.
 */
export const STOCK_MODELS: RouteContext['models'] = {
  raw: 'tensorrt_llm',
  ensemble: 'ensemble',
  openai: 'ensemble',
  bls: 'tensorrt_llm_bls',
  blsAccumulate: 'tensorrt_llm_bls_accumulate',
  llmapi: 'llmapi',
};

/** How this client goes away in a cancellation case. */
export type Cancel =
  /** Cancel the call (gRPC) or close the connection (HTTP) once this many data events arrived; 0: right after sending. */
  | { readonly how: 'leave'; readonly afterEvents: number }
  /** Close the connection once this says so, which is told when the exchange is over: an answer that is not streamed has no events to count. */
  | { readonly how: 'leave-when'; readonly when: (over: Promise<unknown>) => Promise<unknown> }
  /** A client deadline that passes while the answer runs (gRPC only). */
  | { readonly how: 'deadline'; readonly ms: number }
  /** A second request with stop=true and the same request id, once this many data events arrived (raw, llmapi). */
  | { readonly how: 'stop-tensor'; readonly afterEvents: number };

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Hard limit for the whole exchange in milliseconds; when it passes the transcript ends with `deadline`. */
  readonly deadlineMs: number;
  readonly cancel?: Cancel;
  /** Told what passes on each inference call of the exchange: the first is the case's own, a stop request has another. */
  readonly tap?: (() => CallTap) | undefined;
  /** Ask for log-probabilities (raw, ensemble, generate). */
  readonly logProbs?: boolean;
  /** Ask for generation logits, from which margins and runner-ups are taken (raw). */
  readonly margins?: boolean;
}

export interface Route {
  readonly id: RouteId;
  readonly protocol: 'grpc' | 'http' | 'openai';
  readonly modes: readonly Mode[];
  /** Undefined when the route can carry the request; otherwise why not, as a phrase. Without a profile: in front of Triton. */
  cannotCarry(c: Case, profile?: ReleaseProfile): string | undefined;
  /** Never rejects for what the server did (that is in the transcript); rejects for our own mistakes and for `interrupted`. */
  run(c: Case, context: RouteContext, options: RunOptions): Promise<Transcript>;
}
