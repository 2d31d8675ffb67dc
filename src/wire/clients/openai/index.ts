import { type EventStream, type HttpAnswer, HttpChannel, type HttpRequest } from '../http/index.ts';
import type { Access } from '../access.ts';
import type { CallOptions } from '../types.ts';
import { chat, openChat } from './chat.ts';
import { complete, openCompletions } from './completions.ts';
import type { ChatCompletion, Completion, OpenAiBody, OpenAiModel } from './types.ts';

export type * from './types.ts';

/** The OpenAI-compatible front end. */
export interface OpenAiClient extends AsyncDisposable {
  readonly origin: string;
  /** GET /health/ready is 200. */
  ready(options: CallOptions): Promise<boolean>;
  models(options: CallOptions): Promise<readonly OpenAiModel[]>;
  complete(body: OpenAiBody, options: CallOptions): Promise<Completion>;
  openCompletions(body: OpenAiBody, options: CallOptions): EventStream;
  chat(body: OpenAiBody, options: CallOptions): Promise<ChatCompletion>;
  openChat(body: OpenAiBody, options: CallOptions): EventStream;
  /** Any request; any status is an answer. */
  answer(request: HttpRequest, options: CallOptions): Promise<HttpAnswer>;
}

/** @param baseUrl up to and without /v1 */
export function openAiClient(baseUrl: string, access?: Access): OpenAiClient {
  const channel = new HttpChannel(baseUrl, access);
  return {
    origin: channel.origin,
    ready: async (options) => (await channel.answer({ method: 'GET', path: '/health/ready' }, options)).status === 200,
    models: async (options) => (await channel.json<{ data: readonly OpenAiModel[] }>({ method: 'GET', path: '/v1/models' }, options)).data,
    complete: (body, options) => complete(channel, body, options),
    openCompletions: (body, options) => openCompletions(channel, body, options),
    chat: (body, options) => chat(channel, body, options),
    openChat: (body, options) => openChat(channel, body, options),
    answer: (request, options) => channel.answer(request, options),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
