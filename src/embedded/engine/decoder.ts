import type { Line } from './line.ts';
import type { BeamState, EngineStep } from './types.ts';

/** How one admitted request gets from logits to ids. */
export interface Decoder {
  /** Computed in the next step, at least one. */
  readonly lines: readonly Line[];
  /** All that the request holds. */
  readonly held: readonly Line[];
  readonly cumLogProb: number;
  readonly beams: readonly BeamState[] | undefined;
  /** Draws from the logits of `lines`; the steps to tell, of which the last may end the request. */
  advance(): readonly EngineStep[];
}
