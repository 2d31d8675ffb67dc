import { logSumExp } from './shaper.ts';
import type { BeamState, EngineBeams } from './types.ts';

export interface BeamSearchOptions extends EngineBeams {
  /** -1: no beam ends by EOS. */
  readonly endId: number;
  readonly maxTokens: number;
  /** Whether an answer ends with a stop word. */
  readonly stops: (ids: readonly number[]) => boolean;
  /** Fault `pytorch-logprobs-wrong`. */
  readonly leavesLogProbs?: boolean;
  /** Fault `beam-diversity-lost-inflight`: whether all beams are to grow from the best one in this step. */
  readonly collapses?: () => boolean;
}

/** A beam that goes on, and the index of the one it grew from among those of the step before. */
export interface LiveBeam extends BeamState {
  readonly parent: number;
}

interface EndedBeam {
  readonly beam: BeamState;
  readonly score: number;
}

interface Candidate {
  readonly beam: number;
  readonly id: number;
  /** With the diversity bonus of its beam: the order of the candidates. */
  readonly rank: number;
  /** Without it: what the answer up to this id is worth. */
  readonly cumLogProb: number;
}

/** A sequence that has drawn nothing yet: where all beams begin. */
const ROOT: LiveBeam = { ids: [], logProbs: [], logits: [], cumLogProb: 0, parent: 0 };

/**
 * Beam search over log-probabilities as TensorRT-LLM's decoder does it for small widths
 * (cpp/tensorrt_llm/kernels/beamSearchKernels/beamSearchKernelsTemplate.h, beamStage3Kernel; decodingKernels.cu,
 * insertUnfinishedPathKernel and finalizeKernel).
 *
 * Each step: the 2·width best continuations of all beams, ranked by cumulative log-probability plus diversityRate times
 * the beam's index, ties by beam and then by id. From the best on: EOS among the first `width` ends its beam, any other
 * id makes a beam of the next step, until there are `width` of these. Ended beams are kept by score, the best `width`:
 * cumLogProb / length^lengthPenalty, where length counts EOS. The search is over when `width` beams have ended and
 * earlyStopping is set, or when the worst of them is no worse than what the best candidate is worth now; or by length,
 * and then beams that did not end compete too.
 *
 * What a beam has drawn leaves EOS out; its cumLogProb has it. A stop word ends its beam as EOS would, with its ids kept;
 * what upstream makes of stop words under beam search is not defined well enough to be repeated.
 */
export class BeamSearch {
  readonly #options: BeamSearchOptions;
  #live: readonly LiveBeam[] = [ROOT];
  #ended: EndedBeam[] = [];
  #generated = 0;
  #satisfied = false;

  constructor(options: BeamSearchOptions) {
    this.#options = options;
  }

  /** Beams to compute in the next step, best first; one before the first step. */
  get live(): readonly LiveBeam[] {
    return this.#live;
  }

  get finish(): 'eos' | 'length' | undefined {
    if (this.#satisfied || this.#live.length === 0) return 'eos';
    return this.#generated === this.#options.maxTokens ? 'length' : undefined;
  }

  /** `logitsOf(b)`: logits [vocab] by which live beam b draws, read before the next call; `rowOf(b)`: what is to be kept of them, if anything. */
  step(logitsOf: (beam: number) => Float64Array, rowOf: (beam: number) => Float32Array | undefined): void {
    const { width, endId, diversityRate, lengthPenalty, earlyStopping, stops } = this.#options;
    const candidates = this.#live
      .flatMap((beam, index) => best(logitsOf(index), 2 * width, beam.cumLogProb, index, diversityRate))
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, 2 * width);
    const length = this.#generated + 1;
    const next: LiveBeam[] = [];
    for (const [i, candidate] of candidates.entries()) {
      if (candidate.id !== endId) next.push(this.#grown(candidate, rowOf(candidate.beam), next.length));
      else if (i < width) this.#end(this.#live[candidate.beam]!, candidate.cumLogProb, length);
      if (next.length === width) break;
    }
    this.#generated = length;
    if (this.#options.collapses?.() === true) next.fill(next[0]!);
    const stopped = next.filter((beam) => stops(beam.ids));
    for (const beam of stopped) this.#end(beam, beam.cumLogProb, length);
    this.#live = next.filter((beam) => !stopped.includes(beam));
    if (this.#ended.length < width) return;
    this.#satisfied = earlyStopping || this.#worst() >= penalized(candidates[0]!.rank, length, lengthPenalty);
  }

  /** The beams to return as things are, best score first. */
  ranked(): readonly BeamState[] {
    const { returned, lengthPenalty } = this.#options;
    const running = this.#satisfied
      ? []
      : this.#live.map((beam) => ({ beam, score: penalized(beam.cumLogProb, this.#generated, lengthPenalty) }));
    return [...this.#ended, ...running]
      .toSorted((a, b) => b.score - a.score)
      .slice(0, returned)
      .map(({ beam }) => beam);
  }

  #grown({ beam, id, cumLogProb }: Candidate, row: Float32Array | undefined, place: number): LiveBeam {
    const parent = this.#live[beam]!;
    // Fault: ids are gathered along the beam, log-probabilities are not.
    const { logProbs } = this.#options.leavesLogProbs === true ? (this.#live[place] ?? parent) : parent;
    return {
      ids: [...parent.ids, id],
      logProbs: [...logProbs, cumLogProb - parent.cumLogProb],
      logits: row === undefined ? parent.logits : [...parent.logits, row],
      cumLogProb,
      parent: beam,
    };
  }

  #end(beam: BeamState, cumLogProb: number, length: number): void {
    const score = penalized(cumLogProb, length, this.#options.lengthPenalty);
    const { ids, logProbs, logits } = beam;
    const ended = { beam: { ids, logProbs, logits, cumLogProb }, score };
    if (this.#ended.length < this.#options.width) {
      this.#ended.push(ended);
      return;
    }
    const worst = this.#worst();
    if (score >= worst) this.#ended[this.#ended.findIndex((other) => other.score === worst)] = ended;
  }

  #worst(): number {
    return Math.min(...this.#ended.map(({ score }) => score));
  }
}

/** A score that does not punish length: beamSearchKernels.h, applyLengthPenalty. */
export function penalized(cumLogProb: number, length: number, lengthPenalty: number): number {
  return lengthPenalty === 0 || length === 1 ? cumLogProb : cumLogProb / length ** lengthPenalty;
}

/** The `count` most probable ids, best first, ties by the lower id. */
function best(logits: Float64Array, count: number, cumLogProb: number, beam: number, diversityRate: number): Candidate[] {
  const base = logSumExp(logits);
  const top: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    if (top.length === count && !(logits[id]! > logits[top[count - 1]!]!)) continue;
    let at = top.length;
    while (at > 0 && logits[id]! > logits[top[at - 1]!]!) at--;
    top.splice(at, 0, id);
    if (top.length > count) top.pop();
  }
  return top.map((id) => {
    const sum = cumLogProb + (logits[id]! - base);
    return { beam, id, rank: sum + diversityRate * beam, cumLogProb: sum };
  });
}
