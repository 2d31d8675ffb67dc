import type { ModelsProfile } from '#core/profile/index.ts';
import type { Engine, EngineHandle, EngineRequest, EngineStep } from '../engine/types.ts';
import { trtllmMetricsText } from '../metrics/index.ts';
import type { Model, ModelRequest, ModelSetup, ResponseSender } from '../core/index.ts';
import { malformed, refusalOf } from './tensorrt-llm-refusals.ts';
import { beamsOf, engineRequestOf, type RequestReading, sequencesOf } from './tensorrt-llm-request.ts';
import { ResponseBuilder, type ResponseShape } from './tensorrt-llm-response.ts';
import { boolAt, flagOf, int32At, optional, parameterOf } from './values.ts';

export interface TensorRtLlmOptions {
  readonly engine: Engine;
  readonly profile: ModelsProfile;
  readonly faults: ReadonlySet<string>;
}

/**
 * `tensorrt_llm` of TensorRT-LLM 1.x: ids in, ids out (upstream
 * `triton_backend/inflight_batcher_llm/src/model_instance_state.cc`; docs/observed.md#model-repository-1-x).
 *
 * Streaming: one response per engine step with the ids not sent before, output_ids INT32 [1,beams,n] and sequence_length
 * INT32 [1,beams]; EOS ends with an empty response, max_tokens and stop words with the one that holds the last token.
 * Otherwise one response with everything, the prompt first unless it is excluded. A batch makes one engine request per
 * row, num_return_sequences one per sequence; `batch_index` and `sequence_index` tell them apart and the flag rides on
 * the last to end. `stop=true` cancels the running request of
 * the same id and is itself answered flag-only.
 *
 * Errors: INTERNAL, `Executor failed process requestId <n> due to the following error: <text>`.
 */
export function tensorrtLlm(setup: ModelSetup, options: TensorRtLlmOptions): Model {
  const { config, version } = setup;
  const { engine, faults } = options;
  const decoupled = config.model_transaction_policy?.decoupled === true;
  const excludesInput = flagOf(parameterOf(config, 'exclude_input_in_output'), false);
  const cancelCheckMs = Number(parameterOf(config, 'cancellation_check_period_ms') ?? '100');
  const reading: RequestReading = {
    profile: options.profile,
    ignoresBeamWidth: faults.has('beam-width-ignored'),
    shiftsArguments: faults.has('positional-args-shift'),
    losesRepetitionPenalty: faults.has('repetition-penalty-no-effect-inflight'),
    samplesByFirstRow: faults.has('first-row-samples-for-all'),
    vocabSize: engine.vocabSize,
  };
  // Fault beam-width-ignored: the width asked for is not compared with the engine's.
  const maxBeamWidth = faults.has('beam-width-ignored') ? Infinity : Number(parameterOf(config, 'max_beam_width') ?? '1');
  const limits = { vocabSize: engine.vocabSize, maxBeamWidth };
  const onlyFirstChunk = faults.has('decoupled-client-one-token');
  const answersEmptySteps = faults.has('first-event-empty-text');
  const frozenStats = faults.has('stats-of-first-iteration-only') ? engine.stats() : undefined;
  /** Engine requests by client id; a newer request of the same id takes the place of the older. */
  const running = new Map<string, Set<EngineHandle>>();
  let lastRequestId = 0;
  /** Ends what is in flight with an error; filled for a fault alone. */
  const inFlight = new Set<(text: string) => void>();
  const guideKills = faults.has('bad-schema-kills-executor');
  const queueOverflows = faults.has('high-concurrency-crash');

  // Fault mm-reuse-needs-hash: prompts are kept under a key that leaves out what they hold.
  const promptsByLength = faults.has('mm-reuse-needs-hash') ? new Map<number, Int32Array>() : undefined;
  const withReusedPrompt = (request: EngineRequest): EngineRequest => {
    if (promptsByLength === undefined) return request;
    const { length } = request.promptIds;
    const known = promptsByLength.get(length) ?? request.promptIds;
    promptsByLength.set(length, known);
    return { ...request, promptIds: known };
  };

  const refusal = (request: ModelRequest): string | undefined => {
    if (optional(request, 'input_ids') === undefined) return 'input_ids is not present in the request';
    for (const name of ['input_lengths', 'request_output_len']) {
      if (optional(request, name) === undefined) return `${name} is not present in the request`;
    }
    for (const name of ['output_ids', 'sequence_length']) {
      if (!request.requestedOutputs.has(name)) return `${name} must be among the requested outputs`;
    }
    if (boolAt(request, 'streaming', 0) && !decoupled) return 'Streaming is only supported if model is deployed using decoupled mode.';
    if (request.batchSize > 1 && !decoupled) {
      return 'Batch size > 1 requires the tensorrt_llm backend to be using decoupled transaction policy';
    }
    if (!decoupled && partsOf(request, reading).length > 1) {
      return `num_return_sequences ${sequencesOf(request, 0)} requires the decoupled transaction policy`;
    }
    return malformed(request);
  };

  const stop = (request: ModelRequest, sender: ResponseSender): void => {
    if (request.id === '') {
      sender.sendError('INTERNAL', 'A request id must be provided for request cancellation', true);
      return;
    }
    // Fault cancel-disabled-upstream: the stop is answered, and nothing is stopped.
    if (!faults.has('cancel-disabled-upstream')) for (const handle of running.get(request.id) ?? []) handle.cancel();
    // Without the decoupled policy every request must have a response.
    if (decoupled) sender.close();
    else sender.send([], true);
  };

  const execute = (request: ModelRequest, sender: ResponseSender): void => {
    if (boolAt(request, 'stop', 0)) {
      stop(request, sender);
      return;
    }
    const refused = refusal(request);
    if (refused !== undefined) {
      sender.sendError('INTERNAL', refused, true);
      return;
    }
    const firstId = lastRequestId + 1;
    lastRequestId += request.batchSize;
    const impossible = refusalOf(request, limits);
    if (impossible !== undefined) {
      sender.sendError('INTERNAL', executorError(firstId, impossible), true);
      // Fault bad-schema-kills-executor: the loop ends, and all that it ran with it.
      if (guideKills && optional(request, 'guided_decoding_guide_type') !== undefined) for (const kill of inFlight) kill(impossible);
      return;
    }
    // Fault high-concurrency-crash: the queue is written past its end.
    if (queueOverflows && engine.stats().waiting >= QUEUE_ENTRIES) process.kill(process.pid, 'SIGSEGV');
    const handles = new Set<EngineHandle>();
    if (request.id !== '') running.set(request.id, handles);
    const parts = partsOf(request, reading);
    let open = parts.length;
    let killed = false;
    const kill = (text: string): void => {
      killed = true;
      inFlight.delete(kill);
      for (const handle of handles) handle.cancel();
      sender.sendError('INTERNAL', executorError(firstId, text), true);
    };
    if (guideKills) inFlight.add(kill);
    const closed = (): boolean => {
      open--;
      if (open === 0 && running.get(request.id) === handles) running.delete(request.id);
      if (open === 0) inFlight.delete(kill);
      return open === 0;
    };
    for (const [index, { row, sequence }] of parts.entries()) {
      const engineRequest = withReusedPrompt(engineRequestOf(request, row, sequence, reading));
      const shape = shapeOf(request, { row, sequence }, excludesInput, reading, faults);
      const builder = new ResponseBuilder(shape, engineRequest.promptIds);
      const streaming = boolAt(request, 'streaming', row);
      let sent = 0;
      handles.add(
        engine.submit(engineRequest, (step: EngineStep) => {
          if (killed) {
            if (step.finish !== undefined || step.error !== undefined) closed();
            return;
          }
          if (step.error !== undefined) {
            sender.sendError('INTERNAL', executorError(firstId + row, step.error), closed());
            return;
          }
          builder.take(step);
          const last = step.finish !== undefined;
          const final = last && closed();
          // Fault first-event-empty-text: every step is answered, whether it has ids or not.
          if (!last && (!streaming || !(builder.hasNews || answersEmptySteps))) return;
          // Fault decoupled-client-one-token: whoever reads the responses stops after the first.
          if (onlyFirstChunk && streaming && sent > 0) {
            if (final) sender.close();
            return;
          }
          sent++;
          sender.send(streaming ? builder.delta() : builder.whole(), final, { index, last });
        }),
      );
    }
    request.onCancel(() => {
      const cancelAll = (): void => {
        for (const handle of handles) handle.cancel();
      };
      if (cancelCheckMs > 0) setTimeout(cancelAll, cancelCheckMs).unref();
      else cancelAll();
    });
  };

  return {
    execute,
    // Fault metrics-missing-python-backend: nothing registers the custom families.
    metricsText: () =>
      faults.has('metrics-missing-python-backend') ? '' : trtllmMetricsText(config.name, version, frozenStats ?? engine.stats()),
  };
}

/** What the fault high-concurrency-crash has room for. */
const QUEUE_ENTRIES = 16;

function executorError(requestId: number, text: string): string {
  return `Executor failed process requestId ${requestId} due to the following error: ${text}`;
}

interface Part {
  readonly row: number;
  readonly sequence: number;
}

/** The engine requests that one request makes: every sequence of every row, the beams of a row together. */
function partsOf(request: ModelRequest, reading: RequestReading): Part[] {
  const rows = Array.from({ length: request.batchSize }, (_, row) => row);
  return rows.flatMap((row) => {
    const sequences = beamsOf(request, row, reading) === undefined ? sequencesOf(request, row) : 1;
    return Array.from({ length: sequences }, (_, sequence) => ({ row, sequence }));
  });
}

function shapeOf(
  request: ModelRequest,
  { row, sequence }: Part,
  excludesInput: boolean,
  reading: RequestReading,
  faults: ReadonlySet<string>,
): ResponseShape {
  // Fault sequence-length-ignores-end-id: the length that was planned is told, not the one that was reached.
  const planned = (int32At(request, 'input_lengths', row) ?? 0) + (int32At(request, 'request_output_len', row) ?? 0);
  return {
    sequenceLength: faults.has('sequence-length-ignores-end-id') ? planned : undefined,
    batchIndex: request.batchSize > 1 ? row : undefined,
    sequenceIndex: sequencesOf(request, row) > 1 ? sequence : undefined,
    beams: beamsOf(request, row, reading)?.returned,
    excludesInput:
      optional(request, 'exclude_input_in_output') === undefined ? excludesInput : boolAt(request, 'exclude_input_in_output', row),
    logProbs: boolAt(request, 'return_log_probs', row),
    logits: boolAt(request, 'return_generation_logits', row),
    inputTokens: boolAt(request, 'return_num_input_tokens', row) ? (int32At(request, 'input_lengths', row) ?? 0) : undefined,
    outputTokens: boolAt(request, 'return_num_output_tokens', row),
    logitsMisread: faults.has('generation-logits-dtype'),
    vocabSize: reading.vocabSize,
  };
}
