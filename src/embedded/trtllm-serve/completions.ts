/**
 * Bodies of /v1/completions. Source: completion_stream_post_processor and completion_response_post_processor,
 * tensorrt_llm/serve/postprocess_handlers.py; docs/observed.md#trtllm-serve.
 */
import { RequestFailure } from './bad-request.ts';
import { type AnswerForm, event, TOKENS_PER_ITERATION } from './answer-form.ts';
import { dumpChunk, type Dumpable, Float } from './dump.ts';
import { createdNow, hexId } from './ids.ts';
import type { LlmOutput } from '../llm-api/llm-output.ts';
import { completionLogProbs } from './log-probs.ts';
import type { ServeApp } from './serve-app.ts';
import { usage, type UsageWish } from './usage.ts';

export interface CompletionAsked {
  readonly model: string;
  readonly promptIndex: number;
  readonly promptTokens: number;
  readonly requestNumber: number;
  /** What `echo` puts in front: the prompt's text, or its ids, which cannot be put in front of a text. */
  readonly echo: string | readonly bigint[] | undefined;
  readonly detokenize: boolean;
  readonly logProbs: boolean;
  readonly usage: UsageWish;
}

export function completionForm(app: ServeApp, asked: CompletionAsked): AnswerForm {
  const { promptTokens } = asked;
  const created = createdNow();
  let first = true;
  let textSoFar = 0;
  const envelope = (object: string, prefix: string): { id: string; object: string; created: number; model: string } =>
    app.facts.idPerChunk.value
      ? { id: hexId(prefix), object, created: createdNow(), model: asked.model }
      : { id: `cmpl-${asked.requestNumber}`, object, created, model: asked.model };
  const text = (own: string, withEcho: boolean): string => {
    if (withEcho && asked.echo !== undefined) {
      if (typeof asked.echo !== 'string') throw new RequestFailure('can only concatenate list (not "str") to list');
      return asked.detokenize ? asked.echo + own : '';
    }
    return asked.detokenize ? own : '';
  };

  return {
    events(output) {
      const offset = textSoFar;
      textSoFar += output.textDiff.length;
      const choice = {
        index: asked.promptIndex,
        text: text(output.textDiff, first),
        token_ids: asked.detokenize ? null : output.idsDiff,
        logprobs: asked.logProbs ? completionLogProbs(app.tokenizer, output.idsDiff, output.logProbsDiff, offset) : null,
        finish_reason: output.finishReason,
        stop_reason: output.stopReason,
        avg_decoded_tokens_per_iter: new Float(TOKENS_PER_ITERATION),
      };
      first = false;
      const counted = usage(promptTokens, output.ids.length);
      const events = [
        event(
          dumpChunk({ ...envelope('text_completion', 'cmpl'), choices: [choice], usage: asked.usage.inEveryChunk ? counted : null }, false),
        ),
      ];
      if (output.done && asked.usage.atEnd) {
        const last =
          app.facts.completionsUsageIsChat.value || app.faults.has('usage-chunk-of-another-endpoint')
            ? envelope('chat.completion.chunk', 'chatcmpl')
            : envelope('text_completion', 'cmpl');
        events.push(event(dumpChunk({ ...last, choices: [], usage: counted }, false)));
      }
      return events;
    },
    whole: (output) => ({
      id: hexId('cmpl'),
      object: 'text_completion',
      created: createdNow(),
      model: asked.model,
      choices: [wholeChoice(app, asked, output, text(output.text, true))],
      usage: usage(promptTokens, output.ids.length),
      prompt_token_ids: null,
    }),
  };
}

function wholeChoice(app: ServeApp, asked: CompletionAsked, output: LlmOutput, text: string): Dumpable {
  return {
    index: asked.promptIndex,
    text,
    token_ids: asked.detokenize ? null : output.ids,
    logprobs: asked.logProbs ? completionLogProbs(app.tokenizer, output.ids, output.logProbs, 0) : null,
    context_logits: null,
    finish_reason: output.finishReason,
    stop_reason: output.stopReason,
    disaggregated_params: null,
    avg_decoded_tokens_per_iter: new Float(TOKENS_PER_ITERATION),
  };
}

interface WholeCompletion {
  readonly choices: readonly Dumpable[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** Several prompts make one body: a new id, the server's own name, counts added up. */
export function mergedCompletions(
  app: ServeApp,
  bodies: readonly { readonly [key: string]: Dumpable }[],
): { readonly [key: string]: Dumpable } {
  const parts = bodies as unknown as readonly WholeCompletion[];
  const sum = (count: (part: WholeCompletion) => number) => parts.reduce((total, part) => total + count(part), 0);
  return {
    id: hexId('cmpl'),
    object: 'text_completion',
    created: createdNow(),
    model: app.model,
    choices: parts.flatMap((part) => part.choices),
    usage: usage(
      sum((part) => part.usage.prompt_tokens),
      sum((part) => part.usage.completion_tokens),
    ),
    prompt_token_ids: [],
  };
}
