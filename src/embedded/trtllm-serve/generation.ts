/**
 * One prompt on its way through the engine, told as the PyTorch back end tells it: a stream gets a response at the
 * first iteration, at every multiple of the stream interval and at the end; a whole answer gets the last one only.
 * Source: docs/observed.md#trtllm-serve, docs/observed.md#torch-path.
 */
import type { EngineFinish, EngineStep } from '../engine/types.ts';
import { RequestFailure } from './bad-request.ts';
import { drawnIds, finishOf } from '../llm-api/endings.ts';
import { LlmOutput } from '../llm-api/llm-output.ts';
import type { SamplingParams } from './sampling.ts';
import type { ServeApp } from './serve-app.ts';
import { type TokenLogProbs, tokenLogProbs } from '../llm-api/token-log-probs.ts';

export interface Generation {
  /** Counted from 1 over all prompts since the start. */
  readonly requestNumber: number;
  readonly promptTokens: number;
  /** True once nothing more will be told. */
  finished(): boolean;
  abort(): void;
}

export interface GenerationRequest {
  readonly promptIds: readonly number[];
  readonly params: SamplingParams;
  readonly streaming: boolean;
}

export interface GenerationSink {
  response(output: LlmOutput): void;
  /** The engine's refusal or failure, its last word. */
  failure(error: RequestFailure): void;
}

/** Errors: RequestFailure for what is refused before the engine sees it; the sink is never called inside this call. */
export function generate(app: ServeApp, { promptIds, params, streaming }: GenerationRequest, sink: GenerationSink): Generation {
  const { engine, facts, maxNumTokens, streamInterval, torch, tokenizer } = app;
  if (promptIds.length > maxNumTokens) {
    throw new RequestFailure(
      `The sum of prompt length (${promptIds.length}.0), query length (0) should not exceed max_num_tokens (${maxNumTokens})`,
    );
  }
  const room = engine.maxSeqLen - promptIds.length;
  const maxTokens = Math.min(params.maxTokens ?? room, room);
  // A whole answer is looked at once, at its end, unless the release stops it where its stop string is.
  const looksAtAll = !streaming && params.stops.length > 0 && !facts.usageCountsPastStop.value;
  const output = new LlmOutput({ tokenizer, torch, faults: app.faults, params, streaming, streamInterval });
  let finished = false;
  let iterations = 0;
  let generated = 0;
  let ids: number[] = [];
  let logProbs: TokenLogProbs[] = [];

  const fail = (text: string): void => {
    finished = true;
    sink.failure(new RequestFailure(text));
  };
  const tell = (finish: EngineFinish | undefined): void => {
    const stopped = output.take({ ids, logProbs, finish });
    ids = [];
    logProbs = [];
    finished = output.done;
    // The engine is told even where it came to its end by itself.
    if (stopped) handle.cancel();
    if (streaming || output.done) sink.response(output);
  };
  const take = (step: EngineStep): void => {
    if (finished) return;
    if (step.error !== undefined) return fail(step.error);
    iterations++;
    generated += step.ids.length;
    const drawn = drawnIds(step, torch, tokenizer);
    ids.push(...drawn);
    if (params.logProbs > 0) logProbs.push(...tokenLogProbs(step, drawn, params.logProbs));
    const finish = finishOf(step, generated, maxTokens);
    const due = streaming && (iterations === 1 || iterations % streamInterval === 0);
    if (finish !== undefined || due || looksAtAll) tell(finish);
  };

  const refused = workerRefusal(app, params, promptIds);
  if (refused !== undefined) {
    setImmediate(fail, refused);
    return { requestNumber: app.nextRequestNumber(), promptTokens: promptIds.length, finished: () => finished, abort: () => {} };
  }
  const handle = engine.submit(
    {
      id: '',
      promptIds: Int32Array.from(promptIds),
      // A limit that the engine must refuse goes to it as it came.
      maxTokens: params.maxTokens ?? room,
      endId: params.endId,
      minTokens: params.minTokens,
      stopWords: params.stops.map((stop) => stop.ids),
      badWords: [],
      embeddingBias: params.embeddingBias,
      sampling: params.engine,
      wantLogProbs: params.logProbs > 0,
      wantLogits: params.logProbs > 0,
    },
    take,
  );
  return { requestNumber: app.nextRequestNumber(), promptTokens: promptIds.length, finished: () => finished, abort: () => handle.cancel() };
}

/** What the worker process finds, when the headers of a stream have gone out already. */
function workerRefusal({ engine, facts }: ServeApp, { maxTokens }: SamplingParams, promptIds: readonly number[]): string | undefined {
  const left = engine.maxSeqLen - promptIds.length;
  if (maxTokens !== undefined || left > 0) return undefined;
  return facts.jsonSchema.value
    ? `\`default_max_tokens\` (${left}) must be greater than 0, \`default_max_tokens\` (${left}) = max_seq_len (${engine.maxSeqLen}) - \`splited_prompt_len\` (${promptIds.length}) - \`query_token_len\` (0)`
    : '`max_tokens` must be set when `default_max_tokens` is illegal';
}
