import { join } from 'node:path';
import { nowNs } from '#core/clock/index.ts';
import type { ModelsProfile } from '#core/profile/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { Model, ModelRequest, ModelSetup, ResponseSender } from '../core/index.ts';
import type { Engine, EngineHandle, EngineStep } from '../engine/types.ts';
import { drawnIds, finishOf } from '../llm-api/endings.ts';
import { LlmOutput, OUTPUT_DEFAULTS } from '../llm-api/llm-output.ts';
import { llmapiRequest } from './llmapi-request.ts';
import { llmapiResponse } from './llmapi-response.ts';
import { boolAt, parameterOf } from './values.ts';

export interface LlmapiOptions {
  readonly engine: Engine;
  readonly profile: ModelsProfile;
  readonly faults: ReadonlySet<string>;
}

const CANCELLED = 'Request cancelled by client';

interface Running {
  readonly handle: EngineHandle;
  readonly streaming: boolean;
  stopped: boolean;
}

/**
 * The model of TensorRT-LLM's LLM API (upstream `triton_backend/all_models/llmapi/tensorrt_llm`, where it has the name
 * `tensorrt_llm`; docs/observed.md#torch-path): text_input BYTES [1] in, text_output BYTES [1] out, no batches.
 *
 * Streaming: one response per engine step with the **whole** text so far; otherwise one response, prompt and answer
 * together unless sampling_param_exclude_input_from_output. `stop=true` ends the newest request of the same id: a
 * stream with finish_reason `cancelled`, an answer that is not streamed with CANCELLED (upstream never answers it, which
 * is a fault here).
 *
 * Errors: INTERNAL `Error generating request: <text>`, INTERNAL `A request id must be provided for request
 * cancellation`, CANCELLED `Request cancelled by client`.
 */
export function llmapi(setup: ModelSetup, { engine, faults, profile }: LlmapiOptions): Model {
  const { config, directory } = setup;
  const decoupled = config.model_transaction_policy?.decoupled === true;
  const tokenizer = loadTokenizer(join(directory, parameterOf(config, 'tokenizer_dir') ?? '.'));
  const cancelCheckMs = Number(parameterOf(config, 'cancellation_check_period_ms') ?? '100');
  const { torch } = profile;
  const { tokensPerBlock } = engine.stats();
  /** By the client's id; a newer request takes the place of the older, and the first to end takes the entry away. */
  const running = new Map<string, Running>();

  const stop = (request: ModelRequest, sender: ResponseSender): void => {
    if (request.id === '') {
      sender.sendError('INTERNAL', 'A request id must be provided for request cancellation', true);
      return;
    }
    const target = running.get(request.id);
    // Fault cancel-disabled-upstream: the stop is answered, and nothing is stopped.
    if (target !== undefined && !faults.has('cancel-disabled-upstream')) {
      target.stopped = true;
      target.handle.cancel();
    }
    sender.sendError('CANCELLED', CANCELLED, true);
  };

  const generate = (request: ModelRequest, sender: ResponseSender): void => {
    const arrivalNs = nowNs();
    const asked = llmapiRequest(request, { tokenizer, torch, maxNumTokens: engine.maxSeqLen });
    if (asked.streaming && !decoupled) throw new Error('Streaming is only supported in decoupled mode.');
    // Fault llmapi-cannot-stream: the flag is not handed on, so one response brings everything.
    const streaming = asked.streaming && !faults.has('llmapi-cannot-stream');
    const { promptIds } = asked.engine;
    // Fault echo-breaks-token-counts: what the request says of the prompt is dropped.
    const withPrompt = !streaming && (!asked.excludesInput || faults.has('echo-breaks-token-counts'));
    const output = new LlmOutput({
      tokenizer,
      torch,
      faults,
      params: { ...OUTPUT_DEFAULTS, stops: asked.stops },
      promptIds: withPrompt ? promptIds : [],
      streaming,
      streamInterval: 1,
    });
    const maxTokens = Math.min(asked.engine.maxTokens, engine.maxSeqLen - promptIds.length);
    let ids: number[] = [];
    let [generated, firstTokenNs, lastTokenNs] = [0, 0, 0];
    let ended = false;
    const end = (): void => {
      ended = true;
      running.delete(request.id);
    };
    const handle = engine.submit(asked.engine, (step: EngineStep) => {
      if (ended) return;
      if (step.error !== undefined) {
        end();
        sender.sendError('INTERNAL', `Error generating request: ${step.error}`, true);
        return;
      }
      if (step.ids.length > 0) {
        generated += step.ids.length;
        lastTokenNs = nowNs();
        firstTokenNs ||= lastTokenNs;
      }
      ids.push(...drawnIds(step, torch, tokenizer));
      const finish = finishOf(step, generated, maxTokens);
      if (finish === undefined && !streaming) return;
      // The engine is told of a stop string even where it came to its end by itself.
      if (output.take({ ids, logProbs: [], finish })) handle.cancel();
      ids = [];
      if (output.done) end();
      if (!streaming && entry.stopped) {
        // Fault stopped-request-unanswered: a request that was stopped and is not streamed is forgotten.
        if (!faults.has('stopped-request-unanswered')) sender.sendError('CANCELLED', CANCELLED, true);
        return;
      }
      const blocks = Math.ceil((promptIds.length + generated) / tokensPerBlock);
      sender.send(llmapiResponse(output, asked.returns, { arrivalNs, firstTokenNs, lastTokenNs, blocks }), output.done);
    });
    const entry: Running = { handle, streaming, stopped: false };
    if (request.id !== '') running.set(request.id, entry);
    request.onCancel(() => {
      setTimeout(() => {
        if (ended) return;
        end();
        handle.cancel();
        sender.sendError('CANCELLED', CANCELLED, true);
      }, cancelCheckMs).unref();
    });
  };

  return {
    execute: (request, sender) => {
      if (boolAt(request, 'stop', 0)) {
        stop(request, sender);
        return;
      }
      try {
        generate(request, sender);
      } catch (thrown) {
        sender.sendError('INTERNAL', `Error generating request: ${(thrown as Error).message}`, true);
      }
    },
  };
}
