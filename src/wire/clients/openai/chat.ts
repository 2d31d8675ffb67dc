import type { CallOptions } from '../types.ts';
import { type EventStream, type HttpChannel, JSON_CONTENT, openEvents } from '../http/index.ts';
import type { ChatCompletion, OpenAiBody } from './types.ts';

const PATH = '/v1/chat/completions';

/** POST /v1/chat/completions as events; `stream` in the body decides whether they are chunks or one whole answer. */
export function openChat(channel: HttpChannel, body: OpenAiBody, options: CallOptions): EventStream {
  return openEvents(channel, { method: 'POST', path: PATH, headers: JSON_CONTENT, body: JSON.stringify(body) }, options);
}

/** A whole answer. Errors: those of HttpChannel.json. */
export function chat(channel: HttpChannel, body: OpenAiBody, options: CallOptions): Promise<ChatCompletion> {
  return channel.json({ method: 'POST', path: PATH, headers: JSON_CONTENT, body: JSON.stringify({ ...body, stream: false }) }, options);
}
