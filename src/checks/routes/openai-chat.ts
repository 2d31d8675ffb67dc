import { TranscriptBuilder } from '#core/transcript/index.ts';
import { assertCarries } from './assert-carries.ts';
import { runEventExchange } from './event-exchange.ts';
import { noFrontEnd } from './openai-completions.ts';
import { chatReader } from './openai-reader.ts';
import { openAiBody, openAiCannotCarry } from './openai-request.ts';
import type { Route } from './types.ts';

/** /v1/chat/completions of the OpenAI front end: the server renders the chat template. */
export const openAiChat: Route = {
  id: 'openai-chat',
  protocol: 'openai',
  modes: ['stream', 'unary'],
  cannotCarry: (c, profile) =>
    c.request.prompt.kind === 'messages' ? openAiCannotCarry(c, profile) : 'a chat route sends messages, not a bare prompt',
  run: async (c, context, options) => {
    assertCarries(openAiChat, c, options, ['leave'], context.profile);
    const { openai } = context.clients;
    if (openai === undefined) throw noFrontEnd();
    const messages = c.request.prompt.kind === 'messages' ? c.request.prompt.messages : [];
    const builder = new TranscriptBuilder(c);
    const stream = openai.openChat(
      { messages, ...openAiBody(c, context) },
      { signal: options.signal, deadlineMs: options.deadlineMs, tap: options.tap },
    );
    return runEventExchange(stream, builder, chatReader(builder), options);
  },
};
