/** The two generating endpoints. Source: openai_completion and openai_chat, tensorrt_llm/serve/openai_server.py. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { errorsRepr, HttpError, jsonBody, reply, type SchemaError, type Validator, writePythonJson } from '../fastapi/index.ts';
import { type AnswerForm } from './answer-form.ts';
import { badRequest, RequestFailure } from './bad-request.ts';
import { chatForm } from './chat.ts';
import { completionForm, mergedCompletions } from './completions.ts';
import { abortWhenGone } from './disconnect.ts';
import { dumpWhole } from './dump.ts';
import { generate } from './generation.ts';
import { chatPrompt, completionPrompts } from './prompts.ts';
import { type ChatRequest, chatSchema, completionSchema } from './request-schema.ts';
import { chatSampling, completionSampling, type SamplingParams } from './sampling.ts';
import type { ServeApp } from './serve-app.ts';
import { streamAnswers } from './stream.ts';
import { usageWish } from './usage.ts';

export async function completions(app: ServeApp, message: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const request = validated(app, completionSchema(app.facts), message.headers, body);
  await asBadRequest(async () => {
    const params = completionSampling(request, samplingContext(app));
    const prompts = completionPrompts(request, app.tokenizer);
    const asked = prompts.map(({ ids, echo }, promptIndex): Asked => ({
      ids,
      params,
      form: (requestNumber) =>
        completionForm(app, {
          model: request.model,
          promptIndex,
          promptTokens: ids.length,
          requestNumber,
          echo: request.echo === true ? echo : undefined,
          detokenize: request.detokenize,
          logProbs: params.logProbs > 0,
          usage: usageWish(request.stream_options),
        }),
    }));
    if (request.stream === true) streamAnswers(app, asked, response);
    else {
      const bodies = await Promise.all(asked.map((one) => wholeAnswer(app, one, response)));
      reply(response, 200, dumpWhole(bodies.length === 1 ? bodies[0]! : mergedCompletions(app, bodies)));
    }
  });
}

export async function chatCompletions(app: ServeApp, message: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const request = validated(app, chatSchema(app.facts), message.headers, body);
  await asBadRequest(async () => {
    const asked = chatAsked(app, request);
    if (request.stream === true) streamAnswers(app, [asked], response);
    else reply(response, 200, dumpWhole(await wholeAnswer(app, asked, response)));
  });
}

/** Errors: RequestFailure. */
export function chatAsked(app: ServeApp, request: ChatRequest): Asked {
  const params = chatSampling(request, samplingContext(app));
  const prompt = chatPrompt(request, app.tokenizer);
  return {
    ids: prompt.ids,
    params,
    form: (requestNumber) =>
      chatForm(app, {
        model: request.model,
        role: prompt.role,
        promptTokens: prompt.ids.length,
        requestNumber,
        echo: request.echo ? prompt.sameRole : undefined,
        logProbs: request.logprobs === true,
        topLogProbs: (request.top_logprobs ?? 0n) > 0n,
        tool: typeof request.tool_choice === 'object' ? request.tool_choice.function.name : undefined,
        usage: usageWish(request.stream_options),
      }),
  };
}

/** One prompt, ready to be generated. */
export interface Asked {
  readonly ids: readonly number[];
  readonly params: SamplingParams;
  readonly form: (requestNumber: number) => AnswerForm;
}

/** Errors: RequestFailure. */
export function wholeAnswer(app: ServeApp, { ids, params, form }: Asked, client: ServerResponse): Promise<ReturnType<AnswerForm['whole']>> {
  return new Promise((resolve, reject) => {
    const generation = generate(
      app,
      { promptIds: ids, params, streaming: false },
      {
        response: (output) => {
          try {
            resolve(form(generation.requestNumber).whole(output));
          } catch (thrown) {
            reject(thrown as Error);
          }
        },
        failure: reject,
      },
    );
    abortWhenGone(client, generation, app.facts.disconnectPollMs.value);
  });
}

function samplingContext(app: ServeApp) {
  return { tokenizer: app.tokenizer, vocabSize: app.engine.vocabSize, facts: app.facts, torch: app.torch, faults: app.faults };
}

/** There is no 5xx for faults of the server: `except Exception` answers 400. */
async function asBadRequest(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    throw thrown instanceof RequestFailure ? badRequest(thrown.message) : thrown;
  }
}

/** Errors: HttpError 400; TypeError for JSON that is no object, which nobody catches. */
function validated<T>(app: ServeApp, schema: Validator<T>, headers: IncomingHttpHeaders, body: Buffer): T {
  const json = jsonBody(headers, body);
  if (!json.ok) throw violation(app, json.errors);
  if (json.value === null) throw violation(app, [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
  const result = schema.check(json.value, ['body']);
  if (!result.ok) throw violation(app, result.errors);
  return result.value;
}

function violation({ facts }: ServeApp, errors: readonly SchemaError[]): HttpError {
  const text = errorsRepr(errors);
  return facts.validationErrors.value === 'error-object'
    ? badRequest(text)
    : new HttpError(400, writePythonJson(new Map([['error', text]])));
}
