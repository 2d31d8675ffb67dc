/**
 * Answers as events. Headers leave at once, before the engine has said anything. A failure cuts the connection, when
 * the answers to the other prompts have ended; upstream then waits for ever, which is a fault here.
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
  let failed = false;
  // Fault serve-waits-for-failed-prompt: the queue that all answers go through is told of no end of the one that failed.
  const waits = asked.length > 1 && app.faults.has('serve-waits-for-failed-prompt');
  const ended = (): void => {
    if (--open > 0) return;
    if (failed) {
      if (!waits) cutConnection(client);
      return;
    }
    client.write(SSE_DONE);
    client.end();
  };
  const generations = asked.map(({ ids, params, form }) => {
    let made: AnswerForm | undefined;
    let over = false;
    const failure = (): void => {
      over = true;
      failed = true;
      ended();
    };
    const response = (output: LlmOutput): void => {
      if (over || client.destroyed) return;
      let events: readonly string[];
      try {
        events = (made ??= form(generation.requestNumber)).events(output);
      } catch {
        failure();
        return;
      }
      for (const event of events) client.write(event);
      if (output.done) ended();
    };
    const generation = generate(app, { promptIds: ids, params, streaming: true }, { response, failure });
    return generation;
  });
  startStream(client);
  client.flushHeaders();
  for (const generation of generations) abortWhenGone(client, generation, app.facts.disconnectPollMs.value);
}
