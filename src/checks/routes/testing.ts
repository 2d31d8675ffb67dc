/** What the tests of routes share: the committed tokenizer, cases, and clients of a server under test. */
import { fileURLToPath } from 'node:url';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import type { Case, Limits, Mode, Prompt, RouteId, Sampling } from '#core/request/index.ts';
import { connect, type ClientEndpoints } from '#wire/clients/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { STOCK_MODELS, type RouteContext } from './types.ts';

export const TOKENIZER = loadTokenizer(fileURLToPath(new URL('../../../docker/checkpoint/tiny', import.meta.url)));

export interface Asked {
  readonly mode?: Mode;
  readonly prompt?: Prompt;
  readonly sampling?: Sampling;
  readonly limits?: Limits;
}

export function caseOn(route: RouteId, asked: Asked = {}): Case {
  const { mode = 'stream', prompt = { kind: 'text', text: 'Hello' }, sampling = { kind: 'greedy' }, limits = { maxTokens: 8 } } = asked;
  return { request: { id: 'case', prompt, sampling, limits }, route, mode, repeat: 0 };
}

/** Nothing listens at an endpoint that is left out. */
export function contextOf(endpoints: Partial<ClientEndpoints>): RouteContext & AsyncDisposable {
  const clients = connect({ grpc: '127.0.0.1:1', http: '127.0.0.1:1', metrics: undefined, openai: undefined, ...endpoints });
  return {
    clients,
    tokenizer: TOKENIZER,
    profile: DEFAULT_PROFILE,
    models: STOCK_MODELS,
    [Symbol.asyncDispose]: () => clients[Symbol.asyncDispose](),
  };
}
