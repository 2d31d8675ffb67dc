/**
 * One answer of the model on its way to the client, whole or as events.
 * Source: TritonLLMEngine.chat, .completion and their streaming iterators (r25.12); docs/observed.md#openai-front-end-r25-12.
 */
import type { ServerResponse } from 'node:http';
import { SSE_DONE, sseEvent } from '#wire/protocol/sse.ts';
import type { CoreInferRequest, CoreInferResponse, InferHandle, TritonCore } from '../core/types.ts';
import { cutConnection, startStream } from '../fastapi/index.ts';
import type { AnswerForm, Envelope, FinishReason } from './answers.ts';
import { inferenceErrorText } from './inference-error.ts';
import { ServerFailure } from './server-failure.ts';
import { outputText, responseUsage, type Usage, usage } from './output-text.ts';

export interface Generation {
  readonly core: TritonCore;
  readonly request: CoreInferRequest;
  readonly form: AnswerForm;
  readonly envelope: Envelope;
  /** What was sent to the model. */
  readonly maxTokens: number;
  readonly includeUsage: boolean;
  /** Faults only: what happens to the text on its way; called with '' and true at the end of a stream as well. */
  readonly retouch: (text: string, last: boolean) => string;
  readonly doneMarker: boolean;
  readonly endMarker: boolean;
  /** False only under the fault chat-stream-without-role. */
  readonly opensWithRole: boolean;
  /** Whether a client that goes away stops the model (OpenAiProfile), but for the fault openai-disconnect-not-cancelled. */
  readonly cancelOnLeave: boolean;
  /** Every answer ends with "stop": what releases do (OpenAiProfile), and the fault finish-reason-always-eos. */
  readonly alwaysStop: boolean;
}

interface Item {
  readonly response: CoreInferResponse | undefined;
  readonly final: boolean;
}

/** Throws what the core refuses before it is queued; `onItem` is called once per response after that. */
function start(generation: Generation, client: ServerResponse, onItem: (item: Item) => void): InferHandle {
  const { core, request } = generation;
  const handle = core.infer(request, (response, final) => onItem({ response, final }), 'internal');
  if (generation.cancelOnLeave) {
    client.once('close', () => {
      if (!client.writableFinished) handle.cancel();
    });
  }
  return handle;
}

function finishReason(generation: Generation, completionTokens: number | undefined): FinishReason {
  if (generation.alwaysStop || completionTokens === undefined) return 'stop';
  return completionTokens >= generation.maxTokens ? 'length' : 'stop';
}

function mustBeGood({ response, final }: Item): void {
  const error = response?.error;
  if (response !== undefined && error !== undefined)
    throw new ServerFailure(inferenceErrorText(error.message, error.code, response, final));
}

/** The whole answer's body. Errors: ServerFailure. */
export async function wholeAnswer(generation: Generation, client: ServerResponse): Promise<string> {
  const items = await new Promise<readonly Item[]>((resolve) => {
    const seen: Item[] = [];
    start(generation, client, (item) => {
      seen.push(item);
      if (item.final) resolve(seen);
    });
  });
  for (const item of items) mustBeGood(item);
  // A second response is dropped even when it has text.
  const { responsesExpected, tokenCounts } = generation.core.profile.openai;
  if (items.length > 2) throw new ServerFailure(`Unexpected number of responses: ${items.length}, expected ${responsesExpected.value}.`);
  const response = items[0]?.response;
  const counts = tokenCounts.value ? responseUsage(response) : null;
  const text = generation.retouch(outputText(response), true);
  return generation.form.whole(generation.envelope, text, finishReason(generation, counts?.completion_tokens), counts);
}

/**
 * Events, each its own HTTP chunk; headers and the role event at once. An error cuts the connection: no event, no end
 * marker, no last chunk.
 */
export function streamAnswer(generation: Generation, client: ServerResponse): void {
  const { envelope, form } = generation;
  let cut = false;
  let prompt: number | undefined;
  let completion = 0;
  const event = (json: string | undefined) => {
    if (json !== undefined) client.write(sseEvent(json));
  };
  const take = (item: Item) => {
    if (cut || client.destroyed) return;
    try {
      mustBeGood(item);
      const counts = responseUsage(item.response);
      if (counts !== null) {
        prompt ??= counts.prompt_tokens;
        completion += counts.completion_tokens;
      }
      const text = generation.retouch(outputText(item.response), item.final);
      const counted = prompt === undefined ? undefined : usage(prompt, completion);
      if (form.overflows?.(text) === true) {
        cut = true;
        handle.cancel();
        event(form.cut?.(envelope));
        end(generation, client, counted);
        return;
      }
      event(form.chunk(envelope, text, item.final ? finishReason(generation, counted?.completion_tokens) : null));
      if (item.final) end(generation, client, counted);
    } catch (thrown) {
      if (!(thrown instanceof ServerFailure)) throw thrown;
      cut = true;
      cutConnection(client);
    }
  };
  const handle = start(generation, client, take);
  startStream(client);
  const opening = generation.opensWithRole ? form.opening(envelope) : undefined;
  if (opening === undefined) client.flushHeaders();
  else event(opening);
}

function end(generation: Generation, client: ServerResponse, counts: Usage | undefined): void {
  if (generation.includeUsage && counts !== undefined) client.write(sseEvent(generation.form.usageChunk(generation.envelope, counts)));
  if (generation.doneMarker) client.write(SSE_DONE);
  if (generation.endMarker) client.end();
  else cutConnection(client);
}
