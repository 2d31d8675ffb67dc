import type { Decoder } from './decoder.ts';
import { endsWithAny } from './endings.ts';
import type { Line } from './line.ts';
import { createSampler } from './sampler.ts';
import { NO_NEWS } from './tell.ts';
import type { EngineFinish, EngineRequest, EngineStep } from './types.ts';

/** One sequence, one id a step. EOS ends it with a step without ids, its length and stop words on the step of the last id. */
export function createSampledDecoder(request: EngineRequest, line: Line, seed: bigint, faults: ReadonlySet<string>): Decoder {
  const { endId, promptIds, stopWords, wantLogits, wantLogProbs } = request;
  const { logits, tokens } = line;
  const sampler = createSampler(request, seed, logits.length, faults);
  const endsAtEos = !faults.has('never-stops-at-eos');
  const stops = stopWords.length > 0 && !faults.has('stop-words-ignored');
  const zeroLogProbs = faults.has('logprobs-all-zero-flag');
  /** Fault: what is gathered comes one row late. */
  const late = faults.has('first-token-logits-in-context') ? new Float64Array(logits.length) : undefined;
  const lines = [line];
  let cumLogProb = 0;

  const rowsOf = (): Float32Array[] => {
    if (!wantLogits) return [];
    const row = new Float32Array(late ?? logits);
    late?.set(logits);
    return [row];
  };

  const finishNow = (): EngineFinish | undefined => {
    if (stops && endsWithAny(stopWords, tokens, line.length)) return 'stop-words';
    return line.length === tokens.length ? 'length' : undefined;
  };

  const draw = (generated: number): EngineStep => {
    const id = sampler.next(logits, tokens, line.length);
    const rows = rowsOf();
    if (id === endId && endsAtEos) {
      // Fault: the last id is told once more.
      const again = faults.has('stream-repeats-last-token-with-endid') && generated > 0 ? [tokens[line.length - 1]!] : [];
      const logProbs = wantLogProbs ? again.map((last) => sampler.logProbability(last)) : [];
      return { ...NO_NEWS, ids: again, logProbs, cumLogProb, logits: rows, finish: 'eos' };
    }
    tokens[line.length++] = id;
    const logProb = wantLogProbs && !zeroLogProbs ? sampler.logProbability(id) : 0;
    cumLogProb += logProb;
    return { ids: [id], logProbs: wantLogProbs ? [logProb] : [], cumLogProb, logits: rows, finish: finishNow(), error: undefined };
  };

  return {
    lines,
    held: lines,
    beams: undefined,
    get cumLogProb() {
      return cumLogProb;
    },
    advance() {
      const generated = line.length - promptIds.length;
      const step = draw(generated);
      return generated === 0 && faults.has('first-event-empty-text') ? [NO_NEWS, step] : [step];
    },
  };
}
