import type { EngineStep } from './types.ts';

export type Sink = (step: EngineStep) => void;

/** A step without news; the base of refusals and last steps. */
export const NO_NEWS: EngineStep = { ids: [], logProbs: [], cumLogProb: 0, logits: [], finish: undefined, error: undefined };

/** Calls a sink. One that throws must not stop the loop for the others: its error surfaces as an uncaught exception. */
export function tell(sink: Sink, step: EngineStep): void {
  try {
    sink(step);
  } catch (thrown) {
    setImmediate(() => {
      throw thrown;
    });
  }
}
