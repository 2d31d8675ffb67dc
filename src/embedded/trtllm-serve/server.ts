/** The HTTP front end of trtllm-serve, in front of the embedded engine. */
import type { ReleaseProfile, TrtllmServeProfile } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Engine } from '../engine/types.ts';
import { route, serveApp } from '../fastapi/index.ts';
import type { Listening } from '../http/index.ts';
import { internalServerError } from './bad-request.ts';
import { ROUTES } from './routes.ts';
import type { ServeApp } from './serve-app.ts';

export interface TrtllmServeOptions {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly profile: Pick<ReleaseProfile, 'models'>;
  readonly facts: TrtllmServeProfile;
  /** The server's own name for what it serves. */
  readonly model: string;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** stream_interval of the LLM arguments. Default 1. */
  readonly streamInterval?: number;
  /** max_num_tokens of the LLM arguments. Default 8192. */
  readonly maxNumTokens?: number;
  readonly faults?: ReadonlySet<string>;
}

/** Errors: `listen-failed`. */
export function startTrtllmServe(options: TrtllmServeOptions): Promise<Listening> {
  const { engine, tokenizer, profile, facts, model, host, port, streamInterval = 1, maxNumTokens = 8192, faults = new Set() } = options;
  let requests = 0;
  const app: ServeApp = {
    engine,
    tokenizer,
    facts,
    torch: profile.models.torch,
    model,
    streamInterval,
    maxNumTokens,
    faults,
    nextRequestNumber: () => ++requests,
  };
  return serveApp({ host, port, unexpected: internalServerError }, (request, body, response) =>
    route(ROUTES, app, request, body, response),
  );
}
