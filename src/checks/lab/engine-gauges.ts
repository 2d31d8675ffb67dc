import { LockstepError } from '#core/errors/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { Lab } from './lab.ts';

/** The gauges of the TensorRT-LLM backend that tell what the engine is doing (docs/observed.md#triton-2-51). */
export interface EngineGauges {
  readonly active: number;
  readonly waiting: number;
  readonly maxRequests: number;
  readonly blocksUsed: number;
  readonly blocksFree: number;
  readonly blocksMax: number;
  /** Steps since the start of the engine. */
  readonly iteration: number;
}

/** Undefined when the target serves no metrics or not these families. */
export async function readGauges(lab: Lab): Promise<EngineGauges | undefined> {
  const metrics = await lab.metrics();
  if (metrics === undefined) return undefined;
  const request = (type: string) => metrics.get('nv_trt_llm_request_metrics', { request_type: type });
  const block = (type: string) => metrics.get('nv_trt_llm_kv_cache_block_metrics', { kv_cache_block_type: type });
  const gauges = {
    active: request('active'),
    waiting: request('waiting'),
    maxRequests: request('max'),
    blocksUsed: block('used'),
    blocksFree: block('free'),
    blocksMax: block('max'),
    iteration: metrics.get('nv_trt_llm_general_metrics', { general_type: 'iteration_counter' }),
  };
  return Object.values(gauges).includes(undefined) ? undefined : (gauges as EngineGauges);
}

/**
 * Waits until the engine has nothing to do, and says so twice in the same words: gauges are set one by one, and a reader
 * may come between two of them.
 *
 * Errors: `deadline`, `no-engine-metrics`.
 */
export async function untilIdle(lab: Lab, ms = 15_000): Promise<EngineGauges> {
  let last: EngineGauges | undefined;
  return pollUntil({ ms, everyMs: 5, what: 'the engine to become idle (nv_trt_llm_request_metrics active and waiting at 0)' }, async () => {
    const before = last;
    last = await readGauges(lab);
    if (last === undefined)
      throw new LockstepError('no-engine-metrics', 'the target serves no nv_trt_llm_* metrics', {
        hint: 'Give --metrics HOST:PORT; without it nothing can be said about slots and blocks.',
      });
    return last.active === 0 && last.waiting === 0 && before !== undefined && canonicalJson(before) === canonicalJson(last)
      ? last
      : undefined;
  }).catch((thrown: unknown) => {
    const error = LockstepError.from(thrown);
    throw new LockstepError(error.code, error.message.replace(/^\[.*?\] /, ''), {
      hint: error.hint ?? 'Something still holds the engine: another client, or a request that never ends.',
      context: { last: JSON.stringify(last) },
    });
  });
}
