import type { EngineStep } from '../engine/types.ts';
import type { CoreTensor } from '../core/index.ts';
import { fp32Tensor, int32Tensor } from './values.ts';

/** Which tensors the responses of one sequence carry. */
export interface ResponseShape {
  /** Undefined for a batch of one: then no `batch_index` is sent. */
  readonly batchIndex: number | undefined;
  /** Undefined where one sequence was asked for: then no `sequence_index` is sent. */
  readonly sequenceIndex: number | undefined;
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

/** Turns the steps of one sequence into responses. */
export class ResponseBuilder {
  readonly #shape: ResponseShape;
  readonly #promptIds: Int32Array;
  #ids: number[] = [];
  #logProbs: number[] = [];
  #logits: Float32Array[] = [];
  #cumLogProb = 0;

  constructor(shape: ResponseShape, promptIds: Int32Array) {
    this.#shape = shape;
    this.#promptIds = promptIds;
  }

  take(step: EngineStep): void {
    for (const id of step.ids) this.#ids.push(id);
    for (const p of step.logProbs) this.#logProbs.push(p);
    for (const row of step.logits) this.#logits.push(row);
    this.#cumLogProb = step.cumLogProb;
  }

  /** What was not sent before. */
  delta(): CoreTensor[] {
    const tensors = this.#tensors(this.#ids);
    this.#ids = [];
    this.#logProbs = [];
    this.#logits = [];
    return tensors;
  }

  /** Everything, prompt first unless excluded. */
  whole(): CoreTensor[] {
    return this.#tensors(this.#shape.excludesInput ? this.#ids : [...this.#promptIds, ...this.#ids]);
  }

  /**
   * output_ids INT32 [1,1,n], sequence_length INT32 [1,1] = n, cum_log_probs FP32 [1,1], output_log_probs FP32
   * [1,1,new], generation_logits FP32 [1,1,rows,vocab], batch_index, sequence_index and the counts INT32
   * [1,1].
   */
  #tensors(ids: readonly number[]): CoreTensor[] {
    const {
      batchIndex,
      sequenceIndex,
      logProbs,
      logits,
      inputTokens,
      outputTokens,
      vocabSize,
      logitsMisread,
      sequenceLength = ids.length,
    } = this.#shape;
    const out: CoreTensor[] = [
      int32Tensor('output_ids', [1, 1, ids.length], ids),
      int32Tensor('sequence_length', [1, 1], [sequenceLength]),
    ];
    if (logProbs) {
      out.push(fp32Tensor('cum_log_probs', [1, 1], [this.#cumLogProb]));
      out.push(fp32Tensor('output_log_probs', [1, 1, this.#logProbs.length], this.#logProbs));
    }
    if (logits) {
      const rows = new Float32Array(this.#logits.length * vocabSize);
      this.#logits.forEach((row, i) => rows.set(row, i * vocabSize));
      // Fault generation-logits-dtype: half-precision numbers are read as single precision, two as one.
      if (logitsMisread) {
        const halves = new Float32Array(Float16Array.from(rows).buffer);
        rows.fill(0).set(halves);
      }
      out.push(fp32Tensor('generation_logits', [1, 1, this.#logits.length, vocabSize], rows));
    }
    if (batchIndex !== undefined) out.push(int32Tensor('batch_index', [1, 1], [batchIndex]));
    if (sequenceIndex !== undefined) out.push(int32Tensor('sequence_index', [1, 1], [sequenceIndex]));
    if (inputTokens !== undefined) out.push(int32Tensor('num_input_tokens', [1, 1], [inputTokens]));
    // Generated tokens in this response: a client adds them up over a stream.
    if (outputTokens) out.push(int32Tensor('num_output_tokens', [1, 1], [this.#ids.length]));
    return out;
  }
}
