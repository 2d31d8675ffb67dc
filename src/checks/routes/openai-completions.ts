import { LockstepError } from '#core/errors/index.ts';
import { TranscriptBuilder } from '#core/transcript/index.ts';
import { assertCarries } from './assert-carries.ts';
import { runEventExchange } from './event-exchange.ts';
import { completionsReader } from './openai-reader.ts';
import { openAiBody, openAiCannotCarry } from './openai-request.ts';
import { promptText } from './prompt.ts';
import type { Route } from './types.ts';

/** /v1/completions of the OpenAI front end. */
export const openAiCompletions: Route = {
  id: 'openai-completions',
  protocol: 'openai',
  modes: ['stream', 'unary'],
  cannotCarry: (c, profile) => {
    const { prompt } = c.request;
    return prompt.kind === 'text' && prompt.text === '' && profile?.openai.trtllmServe === undefined
      ? 'the OpenAI front end refuses an empty prompt'
      : openAiCannotCarry(c, profile);
  },
  run: async (c, context, options) => {
    assertCarries(openAiCompletions, c, options, ['leave'], context.profile);
    const { openai } = context.clients;
    if (openai === undefined) throw noFrontEnd();
    const text = promptText(c.request.prompt, context.tokenizer);
    const body = { prompt: text, ...openAiBody(c, context) };
    const builder = new TranscriptBuilder(c, { text });
    const stream = openai.openCompletions(body, { signal: options.signal, deadlineMs: options.deadlineMs, tap: options.tap });
    return runEventExchange(stream, builder, completionsReader(builder), options);
  },
};

/** Errors: `openai-front-end-missing`. */
export function noFrontEnd(): LockstepError {
  return new LockstepError('openai-front-end-missing', 'the target has no OpenAI front end', {
    hint: 'Leave the OpenAI routes out of the plan, or give the target an OpenAI endpoint.',
  });
}
