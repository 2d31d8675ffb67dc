import { nowNs } from '#core/clock/index.ts';
import type { Decoder } from './decoder.ts';
import type { Sink } from './tell.ts';
import type { EnginePerf, EngineRequest, EngineStep } from './types.ts';

/** A request in the queue. */
export interface Waiting {
  readonly request: EngineRequest;
  readonly sink: Sink;
  readonly arrivedNs: number;
  cancelled: boolean;
}

/** A request that has a slot and blocks. */
export interface Active extends Waiting {
  readonly seed: bigint;
  readonly decoder: Decoder;
  readonly scheduledNs: number;
  readonly blocksReused: number;
  /** Logits after each token of the prompt, until they are told. */
  contextRows: Float64Array[] | undefined;
  firstTokenNs: number;
}

/** Whether the prompt is what the next step computes. */
export function inContext({ decoder, request }: Active): boolean {
  return decoder.lines[0]!.length === request.promptIds.length;
}

/** What beside ids a request wants told on a step, or undefined; context logits are given once. Blocks must still be held. */
export function extrasOf(active: Active, last: boolean): Pick<EngineStep, 'contextLogits' | 'perf'> | undefined {
  const { contextRows: rows, request, decoder } = active;
  if (request.wantPerf !== true && rows === undefined) return undefined;
  active.contextRows = undefined;
  const perf = request.wantPerf === true ? perfOf(active, last) : undefined;
  if (rows === undefined) return { perf };
  const { logits } = decoder.lines[0]!;
  // The row of the last token went to where the first id is drawn from.
  rows[rows.length - 1] = logits;
  const contextLogits = new Float32Array(rows.length * logits.length);
  rows.forEach((row, i) => contextLogits.set(row, i * logits.length));
  return { perf, contextLogits };
}

function perfOf({ decoder, arrivedNs, scheduledNs, firstTokenNs, blocksReused }: Active, last: boolean): EnginePerf {
  // Beams have the blocks that their prompt fills in common: a fork counts what is its own.
  const blocks = decoder.held.reduce((sum, { kv }, i) => sum + kv.blocks - (i === 0 ? 0 : kv.reused), 0);
  return { arrivedNs, scheduledNs, firstTokenNs, lastTokenNs: last ? nowNs() : 0, blocks, blocksReused };
}
