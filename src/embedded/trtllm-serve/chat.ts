/**
 * Bodies of /v1/chat/completions. Source: chat_stream_post_processor and chat_response_post_processor,
 * tensorrt_llm/serve/postprocess_handlers.py; docs/observed.md#trtllm-serve.
 */
import { type AnswerForm, event, TOKENS_PER_ITERATION } from './answer-form.ts';
import { RequestFailure } from './bad-request.ts';
import { dumpChunk, type Dumpable, Float } from './dump.ts';
import { createdNow, hexId } from './ids.ts';
import { chatLogProbs } from './log-probs.ts';
import type { ServeApp } from './serve-app.ts';
import { usage, type UsageWish } from './usage.ts';

export interface ChatAsked {
  readonly model: string;
  readonly role: string;
  readonly promptTokens: number;
  readonly requestNumber: number;
  /** What `echo` puts in front: the last message, if the answer's role is its own. */
  readonly echo: string | undefined;
  readonly logProbs: boolean;
  readonly topLogProbs: boolean;
  /** The tool that was chosen by name: the text becomes its arguments. */
  readonly tool: string | undefined;
  readonly usage: UsageWish;
}

export function chatForm(app: ServeApp, asked: ChatAsked): AnswerForm {
  const { promptTokens } = asked;
  const created = createdNow();
  let first = true;
  const chunk = (choices: Dumpable, counted: Dumpable, excludeNone: boolean): string =>
    dumpChunk(
      {
        ...(app.facts.idPerChunk.value
          ? { id: hexId('chatcmpl'), object: 'chat.completion.chunk', created: createdNow() }
          : { id: `chatcmpl-${asked.requestNumber}`, object: 'chat.completion.chunk', created }),
        model: asked.model,
        choices,
        usage: counted,
      },
      excludeNone,
    );
  /** Role and echo: with a space before the end of the event. */
  const opening = (delta: Dumpable): string =>
    `data: ${chunk([{ index: 0, delta }], asked.usage.inEveryChunk ? usage(promptTokens, 0) : null, true)} \n\n`;
  const delta = (text: string): Dumpable => {
    if (asked.tool === undefined) return { content: text, reasoning_content: '' };
    if (!app.facts.namedToolStreams.value) throw new RequestFailure('a tool call is no delta of one');
    return { tool_calls: [{ index: 0, function: { name: asked.tool, arguments: text } }] };
  };

  return {
    events(output) {
      const events: string[] = [];
      if (first) {
        events.push(opening({ role: asked.role }));
        if (asked.echo !== undefined && asked.echo !== '') events.push(opening({ content: asked.echo }));
        first = false;
      }
      const counted = usage(promptTokens, output.ids.length);
      const choice = {
        index: 0,
        delta: delta(output.textDiff),
        logprobs: asked.logProbs ? chatLogProbs(app.tokenizer, output.idsDiff, output.logProbsDiff, asked.topLogProbs) : null,
        finish_reason: output.finishReason,
        stop_reason: output.finishReason === null ? null : output.stopReason,
        avg_decoded_tokens_per_iter: new Float(TOKENS_PER_ITERATION),
      };
      events.push(event(chunk([choice], asked.usage.inEveryChunk ? counted : null, true)));
      if (output.done && asked.usage.atEnd) events.push(event(chunk([], counted, false)));
      return events;
    },
    whole: (output) => ({
      id: hexId('chatcmpl'),
      object: 'chat.completion',
      created: createdNow(),
      model: asked.model,
      choices: [
        {
          index: 0,
          message: message(asked, output.text),
          logprobs: asked.logProbs ? chatLogProbs(app.tokenizer, output.ids, output.logProbs, asked.topLogProbs) : null,
          finish_reason: output.finishReason,
          stop_reason: output.stopReason,
          mm_embedding_handle: null,
          disaggregated_params: null,
          avg_decoded_tokens_per_iter: new Float(TOKENS_PER_ITERATION),
        },
      ],
      usage: usage(promptTokens, output.ids.length),
      prompt_token_ids: null,
    }),
  };
}

function message(asked: ChatAsked, text: string): Dumpable {
  const { echo = '', role, tool } = asked;
  if (tool === undefined) return { role, content: echo + text, reasoning_content: '', reasoning: null, tool_calls: [] };
  const call = { id: hexId('chatcmpl-tool'), type: 'function', function: { name: tool, arguments: text } };
  return { role, content: echo, reasoning_content: null, reasoning: null, tool_calls: [call] };
}
