/**
 * Answers as events. Headers leave at once, before the engine has said anything; a failure cuts the connection. Of
 * several prompts one that fails keeps the stream from ever ending.
 * Source: chat_stream_generator, merge_generators and generator_wrapper, tensorrt_llm/serve/openai_server.py.
 */
import type { ServerResponse } from 'node:http';
import { SSE_DONE } from '#wire/protocol/sse.ts';
import { cutConnection, startStream } from '../fastapi/index.ts';
import type { AnswerForm } from './answer-form.ts';
import { abortWhenGone } from './disconnect.ts';
import type { Asked } from './endpoints.ts';
import { generate } from './generation.ts';
import type { LlmOutput } from '../llm-api/llm-output.ts';
import type { ServeApp } from './serve-app.ts';

/** Errors: RequestFailure for what is refused before the stream begins. */
export function streamAnswers(app: ServeApp, asked: readonly Asked[], client: ServerResponse): void {
  let open = asked.length;
  let cut = false;
  const fail = (): void => {
    if (asked.length > 1) return;
    cut = true;
    cutConnection(client);
  };
  const take = (form: AnswerForm, output: LlmOutput): void => {
    if (cut || client.destroyed) return;
    let events: readonly string[];
    try {
      events = form.events(output);
    } catch {
      fail();
      return;
    }
    for (const event of events) client.write(event);
    if (!output.done || --open > 0) return;
    client.write(SSE_DONE);
    client.end();
  };
  const generations = asked.map(({ ids, params, form }) => {
    let made: AnswerForm | undefined;
    const generation = generate(
      app,
      { promptIds: ids, params, streaming: true },
      { response: (output) => take((made ??= form(generation.requestNumber)), output), failure: fail },
    );
    return generation;
  });
  startStream(client);
  client.flushHeaders();
  for (const generation of generations) abortWhenGone(client, generation, app.facts.disconnectPollMs.value);
}
