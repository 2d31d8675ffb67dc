/** For the tests of this folder: requests with everything neutral, runs to the end, the committed oracle. */
import { readFileSync } from 'node:fs';
import type { Engine, EngineBeams, EngineFinish, EngineHandle, EngineRequest, EngineStep } from './types.ts';

const CHECKPOINTS = new URL('../../../docker/checkpoint/', import.meta.url).pathname;
export const CHECKPOINT = `${CHECKPOINTS}tiny`;
export const EOS = 1;

/** A case of docker/checkpoint/oracle/NAME/greedy.json: transformers in float64. `logProbs` has the EOS step too. */
export interface OracleCase {
  readonly prompt: string;
  readonly promptIds: readonly number[];
  readonly maxTokens: number;
  readonly outputIds: readonly number[];
  readonly endedByEos: boolean;
  readonly logProbs: readonly number[];
  readonly margins: readonly number[];
}

/** Folder and literals of one committed checkpoint. */
export function oracleOf(name: string): { readonly checkpoint: string; readonly cases: readonly OracleCase[] } {
  const file = JSON.parse(readFileSync(`${CHECKPOINTS}oracle/${name}/greedy.json`, 'utf8')) as { readonly cases: readonly OracleCase[] };
  return { checkpoint: CHECKPOINTS + name, cases: file.cases };
}

export const ORACLE = oracleOf('tiny').cases;

/** Four beams of settings that leave nothing to chance. */
export const WIDTH_4: EngineBeams = { width: 4, returned: 4, lengthPenalty: 1, earlyStopping: true, diversityRate: 0 };

export function makeRequest(promptIds: readonly number[], changes: Partial<EngineRequest> = {}): EngineRequest {
  return {
    id: '',
    promptIds: Int32Array.from(promptIds),
    maxTokens: 16,
    endId: EOS,
    minTokens: 0,
    stopWords: [],
    badWords: [],
    embeddingBias: undefined,
    sampling: {},
    wantLogProbs: false,
    wantLogits: false,
    ...changes,
  };
}

export interface Answer {
  readonly ids: readonly number[];
  readonly logProbs: readonly number[];
  readonly steps: readonly EngineStep[];
  readonly finish: EngineFinish | undefined;
  readonly error: string | undefined;
}

/** Submits and collects until the last step; `onStep` may cancel. */
export function answer(
  engine: Engine,
  request: EngineRequest,
  onStep?: (step: EngineStep, handle: EngineHandle, at: number) => void,
): Promise<Answer> {
  const steps: EngineStep[] = [];
  return new Promise((resolve) => {
    const handle = engine.submit(request, (step) => {
      steps.push(step);
      onStep?.(step, handle, steps.length - 1);
      if (step.finish === undefined && step.error === undefined) return;
      resolve({
        ids: steps.flatMap((s) => s.ids),
        logProbs: steps.flatMap((s) => s.logProbs),
        steps,
        finish: step.finish,
        error: step.error,
      });
    });
  });
}
