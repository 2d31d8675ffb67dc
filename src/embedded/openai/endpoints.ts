/** The two generating endpoints: validate, send, answer. Source: TritonLLMEngine (r25.12). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { wallClockMs } from '#core/clock/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Tensor } from '#wire/protocol/tensors.ts';
import { CoreError, type TritonCore } from '../core/types.ts';
import { type AnswerForm, CHAT, COMPLETION, toolChat } from './answers.ts';
import { reply, type Route } from '../fastapi/index.ts';
import { chatPrompt } from './chat-prompt.ts';
import { type Generation, streamAnswer, wholeAnswer } from './generation.ts';
import { ServerFailure } from './server-failure.ts';
import type { ModelEntry } from './model-table.ts';
import { validatedBody } from './request-body.ts';
import type { ChatRequest, CompletionRequest, RequestSchemas } from './request-schema.ts';
import type { FrontEndSettings } from './settings.ts';
import { retouching } from './retouch.ts';
import { maxTokens, requestTensors, type SamplingFields } from './tensors.ts';
import { autoToolChat } from './tools/auto-chat.ts';
import { uuid1 } from './uuid1.ts';
import { checkedChat, checkedCompletion, forcedTool, mustReachModel } from './validate.ts';

export interface Frontend {
  readonly core: TritonCore;
  /** Undefined as without --tokenizer: completions work, chat does not. */
  readonly tokenizer: Tokenizer | undefined;
  /** Changed by loads and unloads through this front end alone. */
  readonly models: Map<string, ModelEntry>;
  readonly settings: FrontEndSettings;
  readonly schemas: RequestSchemas;
  readonly routes: readonly Route<Frontend>[];
  readonly faults: ReadonlySet<string>;
}

export async function completions(frontend: Frontend, message: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const { core, faults, schemas } = frontend;
  const profile = core.profile.openai;
  const request = validatedBody(schemas.completion, message.headers, body);
  const { model, prompt } = checkedCompletion(frontend.models, unasked(frontend, request), profile);
  mustReachModel(request, profile, faults);
  const sent = limit(frontend, maxTokens([request.max_tokens], profile));
  const echo =
    profile.completionsExcludeInput.value && model.echoTensor !== undefined && request.echo !== undefined
      ? { tensor: model.echoTensor, exclude: !request.echo }
      : undefined;
  const askForCounts = asksForCounts(frontend);
  const tensors = requestTensors(heeded(frontend, request), { prompt, maxTokens: sent, echo, guide: undefined, askForCounts, profile });
  await answer(frontend, { model, tensors, maxTokens: sent, request, form: COMPLETION, chat: false }, response);
}

export async function chatCompletions(frontend: Frontend, message: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const { core, faults, schemas, settings, tokenizer } = frontend;
  const profile = core.profile.openai;
  const request = validatedBody(schemas.chat, message.headers, body);
  const hasParser = settings.toolCallParser !== undefined;
  const model = checkedChat(frontend.models, unasked(frontend, request), { hasTokenizer: tokenizer !== undefined, hasParser, profile });
  mustReachModel(request, profile, faults);
  const keepBos = profile.doubleBos.value || frontend.faults.has('double-bos-templated-prompt');
  const prompt = chatPrompt(tokenizer as Tokenizer, request.messages, {
    keepBos,
    contentParts: profile.contentParts.value,
    tools: profile.tools.value === 'honoured' ? request.tools : undefined,
  });
  const tool = profile.tools.value === 'honoured' ? forcedTool(request) : undefined;
  const sent = limit(frontend, maxTokens([request.max_completion_tokens, request.max_tokens], profile));
  const echo = profile.chatExcludesInput.value && model.echoTensor !== undefined ? { tensor: model.echoTensor, exclude: true } : undefined;
  const askForCounts = asksForCounts(frontend);
  const tensors = requestTensors(heeded(frontend, request), {
    prompt,
    maxTokens: sent,
    echo,
    guide: tool?.guide,
    askForCounts,
    profile,
  });
  await answer(frontend, { model, tensors, maxTokens: sent, request, form: chatForm(frontend, request, tool?.name), chat: true }, response);
}

/** One tool must be called, or the model chooses, or it is text. */
function chatForm({ core, settings }: Frontend, request: ChatRequest, tool: string | undefined): AnswerForm {
  if (tool !== undefined) return toolChat(tool);
  const { maxToolCallParseBytes, tools } = core.profile.openai;
  const { tool_choice: choice, tools: given = [] } = request;
  const chooses = given.length > 0 && (choice === undefined || choice === 'auto');
  if (tools.value === 'ignored' || settings.toolCallParser === undefined || !chooses) return CHAT;
  return autoToolChat(
    maxToolCallParseBytes.value === undefined ? Infinity : (settings.maxToolCallParseBytes ?? maxToolCallParseBytes.value),
  );
}

/** Fault openai-default-max-tokens-16: whatever was asked for, the default is sent. */
function limit(frontend: Frontend, asked: bigint | undefined): bigint | undefined {
  return frontend.faults.has('openai-default-max-tokens-16') ? BigInt(frontend.core.profile.openai.defaultMaxTokens.value) : asked;
}

/** Fault openai-logprobs-vllm-only: log-probabilities that no such model gives are passed over, as if nobody had asked. */
function unasked<R extends CompletionRequest | ChatRequest>({ faults }: Frontend, request: R): R {
  return faults.has('openai-logprobs-vllm-only') ? { ...request, logprobs: undefined, top_logprobs: undefined } : request;
}

/** Faults temperature-and-seed-ignored and openai-drops-parameters-trtllm: validated, and left out of what is sent. */
function heeded({ faults }: Frontend, request: SamplingFields): SamplingFields {
  const sent = faults.has('temperature-and-seed-ignored') ? { ...request, seed: undefined, temperature: undefined } : request;
  return faults.has('openai-drops-parameters-trtllm') ? { ...sent, stop: undefined } : sent;
}

/** Fault usage-null-trtllm: the counts are not asked for, as up to 25.10. */
function asksForCounts({ core, faults }: Frontend): boolean {
  return core.profile.openai.tokenCounts.value && !faults.has('usage-null-trtllm');
}

interface Asked {
  readonly model: ModelEntry;
  readonly tensors: readonly Tensor[];
  readonly maxTokens: bigint | undefined;
  readonly request: {
    readonly model: string;
    readonly stream: boolean | undefined;
    readonly stream_options: { readonly include_usage: boolean | undefined } | undefined;
  };
  readonly form: AnswerForm;
  readonly chat: boolean;
}

async function answer(frontend: Frontend, asked: Asked, response: ServerResponse): Promise<void> {
  const { core, faults } = frontend;
  const generation: Generation = {
    core,
    request: { modelName: asked.model.name, modelVersion: '', id: '', parameters: new Map(), inputs: asked.tensors, requestedOutputs: [] },
    form: asked.form,
    envelope: {
      id: `cmpl-${uuid1()}`,
      created: Math.floor(wallClockMs() / 1000),
      model: asked.request.model,
      usage: core.profile.openai.usageKeyInChunks.value ? null : undefined,
    },
    maxTokens: asked.maxTokens === undefined ? Infinity : Number(BigInt.asIntN(32, asked.maxTokens)),
    includeUsage: asked.request.stream_options?.include_usage === true,
    retouch: retouching(frontend, asked.chat),
    doneMarker: !faults.has('sse-client-needs-done'),
    endMarker: !faults.has('no-end-marker-in-sse'),
    opensWithRole: !faults.has('chat-stream-without-role'),
    cancelOnLeave: core.profile.openai.disconnectCancels.value && !faults.has('openai-disconnect-not-cancelled'),
    alwaysStop: core.profile.openai.finishReasonAlwaysStop.value || faults.has('finish-reason-always-eos'),
  };
  try {
    if (asked.request.stream === true) streamAnswer(generation, response);
    else reply(response, 200, await wholeAnswer(generation, response));
  } catch (thrown) {
    // Refused before it was queued: the plain text, not the repr of an exception.
    if (thrown instanceof CoreError) throw new ServerFailure(thrown.message);
    throw thrown;
  }
}
