import type { Access } from '../access.ts';
import type { ServerClient } from '../server-client.ts';
import type { CallOptions, InferMessage, InferRequest } from '../types.ts';
import { type HttpAnswer, HttpChannel } from './channel.ts';
import type { EventStream } from './events.ts';
import type { HttpRequest } from './exchange.ts';
import { generate, type GenerateBody, openGenerate } from './generate.ts';
import { type HttpInferOptions, infer } from './infer.ts';
import { httpServerClient } from './server.ts';

export { errorText, HttpChannel, JSON_CONTENT } from './channel.ts';
export type { HttpAnswer } from './channel.ts';
export { openEvents } from './events.ts';
export type { BodyEvent, EventStream } from './events.ts';
export type { HttpEnding, HttpHead, HttpRequest } from './exchange.ts';
export type { GenerateBody } from './generate.ts';
export type { HttpInferOptions } from './infer.ts';

/** Triton over HTTP. */
export interface HttpClient extends ServerClient, AsyncDisposable {
  readonly origin: string;
  /** POST /infer. */
  infer(request: InferRequest, options: HttpInferOptions): Promise<InferMessage>;
  /** POST /generate. Errors: `http-<status>`, `generate-failed`. */
  generate(model: string, body: GenerateBody, options: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** POST /generate or /generate_stream as events, with the ending of the body kept. */
  openGenerate(model: string, body: GenerateBody, options: CallOptions & { readonly stream: boolean }): EventStream;
  /** Any request; any status is an answer. */
  answer(request: HttpRequest, options: CallOptions): Promise<HttpAnswer>;
}

/** @param address host:port, or a URL */
export function httpClient(address: string, access?: Access): HttpClient {
  const channel = new HttpChannel(address, access);
  return {
    ...httpServerClient(channel),
    origin: channel.origin,
    infer: (request, options) => infer(channel, request, options),
    generate: (model, body, options) => generate(channel, model, body, options),
    openGenerate: (model, body, options) => openGenerate(channel, model, body, options),
    answer: (request, options) => channel.answer(request, options),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
