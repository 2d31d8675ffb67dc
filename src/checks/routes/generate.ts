import { FLAG, TranscriptBuilder } from '#core/transcript/index.ts';
import { assertCarries } from './assert-carries.ts';
import { generateBody } from './ensemble-request.ts';
import { type PayloadReader, runEventExchange } from './event-exchange.ts';
import { promptText, textRouteCannotCarry } from './prompt.ts';
import { tokenCounter } from './read-tensors.ts';
import { uniqueRequestId } from './request-id.ts';
import type { Route } from './types.ts';

/** The ensemble over HTTP: generate (unary) and generate_stream. */
export const generate: Route = {
  id: 'generate',
  protocol: 'http',
  modes: ['stream', 'unary'],
  cannotCarry: (c) => textRouteCannotCarry(c.request),
  run: async (c, context, options) => {
    assertCarries(generate, c, options, ['leave', 'leave-when']);
    const text = promptText(c.request.prompt, context.tokenizer);
    const id = uniqueRequestId(c.request.id);
    const body = generateBody(c, id, text, context, options);
    const builder = new TranscriptBuilder(c, { text });
    const stream = context.clients.http.openGenerate(context.models.ensemble, body, {
      signal: options.signal,
      deadlineMs: options.deadlineMs,
      tap: options.tap,
      stream: c.mode === 'stream',
    });
    return runEventExchange(stream, builder, generateReader(builder, id), options);
  },
};

/** One element is a bare value, several are a list; servers before 2.49 do not echo the id (docs/observed.md#triton-2-51). */
export function generateReader(builder: TranscriptBuilder, id: string): PayloadReader {
  const counts = tokenCounter(builder);
  return (payload) => {
    builder.event(FLAG.data);
    const echoed = payload['id'];
    if (echoed !== undefined && echoed !== id) builder.foreignId(typeof echoed === 'string' ? echoed : JSON.stringify(echoed));
    const text = payload['text_output'];
    if (typeof text === 'string') builder.text(text);
    else builder.error('malformed', `text_output is ${JSON.stringify(text)}, expected one string`);
    for (const value of numbers(payload['output_log_probs'])) builder.logProb(value);
    for (const value of numbers(payload['cum_log_probs']).slice(0, 1)) builder.cumLogProb(value);
    counts.input(numbers(payload['num_input_tokens'])[0]);
    counts.output(numbers(payload['num_output_tokens'])[0]);
    return true;
  };
}

function numbers(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value];
  return Array.isArray(value) ? value.filter((v) => typeof v === 'number') : [];
}
