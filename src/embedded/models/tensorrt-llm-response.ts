import type { BeamState, EnginePerf, EngineStep } from '../engine/types.ts';
import type { CoreTensor } from '../core/index.ts';
import { fp32Tensor, int32Tensor, int64Tensor } from './values.ts';

/** Which tensors the responses of one sequence carry. */
export interface ResponseShape {
  /** Undefined for a batch of one: then no `batch_index` is sent. */
  readonly batchIndex: number | undefined;
  /** Undefined where one sequence was asked for: then no `sequence_index` is sent. */
  readonly sequenceIndex: number | undefined;
  /** Undefined for a sampled sequence. */
  readonly beams: number | undefined;
  readonly excludesInput: boolean;
  readonly logProbs: boolean;
  readonly logits: boolean;
  /** Undefined: not asked for. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: boolean;
  readonly vocabSize: number;
  /** Fault `generation-logits-dtype`. */
  readonly logitsMisread: boolean;
  /** Fault `sequence-length-ignores-end-id`: told in place of the number of ids. */
  readonly sequenceLength: number | undefined;
}

const NOTHING: BeamState = { ids: [], logProbs: [], logits: [], cumLogProb: 0 };

/** Turns the steps of one sequence, or of the beams of one, into responses. */
export class ResponseBuilder {
  readonly #shape: ResponseShape;
  readonly #promptIds: Int32Array;
  #ids: number[] = [];
  #logProbs: number[] = [];
  #logits: Float32Array[] = [];
  #cumLogProb = 0;
  #beams: readonly BeamState[];
  /** Ids per beam that the longest had when the last response was made. */
  #sent = 0;
  #contextLogits: Float32Array | undefined;
  #perf: EnginePerf | undefined;

  constructor(shape: ResponseShape, promptIds: Int32Array) {
    this.#shape = shape;
    this.#promptIds = promptIds;
    this.#beams = Array.from({ length: shape.beams ?? 0 }, () => NOTHING);
  }

  take(step: EngineStep): void {
    for (const id of step.ids) this.#ids.push(id);
    for (const p of step.logProbs) this.#logProbs.push(p);
    for (const row of step.logits) this.#logits.push(row);
    this.#cumLogProb = step.cumLogProb;
    if (step.beams !== undefined && this.#shape.beams !== undefined) this.#beams = step.beams;
    this.#contextLogits ??= step.contextLogits;
    this.#perf = step.perf;
  }

  /** Whether there are ids that no response held. */
  get hasNews(): boolean {
    return this.#shape.beams === undefined ? this.#ids.length > 0 : longest(this.#beams) > this.#sent;
  }

  /**
   * What was not sent before. Of beams: what each has beyond the longest that was sent, so that a beam that comes to
   * the front later than its ids were drawn is not told in full (upstream llmRequest.cpp, createResult).
   */
  delta(): CoreTensor[] {
    if (this.#shape.beams !== undefined) {
      const from = this.#sent;
      this.#sent = Math.max(from, longest(this.#beams));
      return this.#tensors(
        this.#beams.map(({ ids, logProbs, logits, cumLogProb }) => ({
          ids: ids.slice(from),
          logProbs: logProbs.slice(from),
          logits: logits.slice(from),
          cumLogProb,
        })),
        [],
      );
    }
    const tensors = this.#tensors([this.#answer()], []);
    this.#ids = [];
    this.#logProbs = [];
    this.#logits = [];
    return tensors;
  }

  /** Everything, prompt first unless excluded. */
  whole(): CoreTensor[] {
    const answers = this.#shape.beams === undefined ? [this.#answer()] : this.#beams;
    return this.#tensors(answers, this.#shape.excludesInput ? [] : [...this.#promptIds]);
  }

  #answer(): BeamState {
    return { ids: this.#ids, logProbs: this.#logProbs, logits: this.#logits, cumLogProb: this.#cumLogProb };
  }

  /**
   * output_ids INT32 [1,beams,n] padded with -1, sequence_length INT32 [1,beams], cum_log_probs FP32 [1,beams],
   * output_log_probs FP32 [1,beams,new] and generation_logits FP32 [1,beams,rows,vocab] padded with 0, context_logits
   * FP32 [1,prompt,vocab] on every response (upstream createResult), batch_index, sequence_index and the counts INT32
   * [1,1]; then what was measured.
   */
  #tensors(answers: readonly BeamState[], lead: readonly number[]): CoreTensor[] {
    const { batchIndex, sequenceIndex, logProbs, logits, inputTokens, outputTokens, vocabSize, sequenceLength, logitsMisread } =
      this.#shape;
    const beams = answers.length;
    const n = lead.length + longest(answers);
    const ids = new Int32Array(beams * n).fill(-1);
    answers.forEach((answer, b) => {
      ids.set(lead, b * n);
      ids.set(answer.ids, b * n + lead.length);
    });
    const lengths = answers.map((answer) => sequenceLength ?? lead.length + answer.ids.length);
    const out: CoreTensor[] = [int32Tensor('output_ids', [1, beams, n], ids), int32Tensor('sequence_length', [1, beams], lengths)];
    if (logProbs) {
      const width = Math.max(...answers.map((answer) => answer.logProbs.length));
      const values = new Float32Array(beams * width);
      answers.forEach((answer, b) => values.set(answer.logProbs, b * width));
      out.push(
        fp32Tensor(
          'cum_log_probs',
          [1, beams],
          answers.map((answer) => answer.cumLogProb),
        ),
      );
      out.push(fp32Tensor('output_log_probs', [1, beams, width], values));
    }
    if (logits) {
      const rows = Math.max(...answers.map((answer) => answer.logits.length));
      const values = new Float32Array(beams * rows * vocabSize);
      answers.forEach((answer, b) => answer.logits.forEach((row, i) => values.set(row, (b * rows + i) * vocabSize)));
      // Fault generation-logits-dtype: half-precision numbers are read as single precision, two as one.
      if (logitsMisread) {
        const halves = new Float32Array(Float16Array.from(values).buffer);
        values.fill(0).set(halves);
      }
      out.push(fp32Tensor('generation_logits', [1, beams, rows, vocabSize], values));
    }
    if (this.#contextLogits !== undefined) {
      out.push(fp32Tensor('context_logits', [1, this.#promptIds.length, vocabSize], this.#contextLogits));
    }
    if (batchIndex !== undefined) out.push(int32Tensor('batch_index', [1, 1], [batchIndex]));
    if (sequenceIndex !== undefined) out.push(int32Tensor('sequence_index', [1, 1], [sequenceIndex]));
    if (inputTokens !== undefined) out.push(int32Tensor('num_input_tokens', [1, 1], [inputTokens]));
    // Generated tokens in this response: a client adds them up over a stream.
    if (outputTokens) out.push(int32Tensor('num_output_tokens', [1, 1], [answers.reduce((sum, answer) => sum + answer.ids.length, 0)]));
    if (this.#perf !== undefined) out.push(...perfTensors(this.#perf));
    return out;
  }
}

function longest(answers: readonly BeamState[]): number {
  return answers.reduce((most, { ids }) => Math.max(most, ids.length), 0);
}

/** What `return_perf_metrics` asks for, INT32, INT64 and FP32 [1,1] (upstream triton_backend, tensorrt_llm/1/model.py). No tokens are drafted here. */
function perfTensors({ arrivedNs, scheduledNs, firstTokenNs, lastTokenNs, blocks, blocksReused }: EnginePerf): CoreTensor[] {
  const int32 = (name: string, value: number) => int32Tensor(name, [1, 1], [value]);
  const int64 = (name: string, value: number) => int64Tensor(name, [1, 1], [BigInt(Math.trunc(value))]);
  return [
    int32('kv_cache_alloc_new_blocks', blocks - blocksReused),
    int32('kv_cache_reused_blocks', blocksReused),
    int32('kv_cache_alloc_total_blocks', blocks),
    int64('arrival_time_ns', arrivedNs),
    int64('first_scheduled_time_ns', scheduledNs),
    int64('first_token_time_ns', firstTokenNs),
    int64('last_token_time_ns', lastTokenNs),
    fp32Tensor('acceptance_rate', [1, 1], [0]),
    int32('total_accepted_draft_tokens', 0),
    int32('total_draft_tokens', 0),
  ];
}
