import { wallClock } from '#core/clock/index.ts';
import type { EngineStats } from '../engine/types.ts';
import { type Family, familyText } from './family.ts';

/**
 * The gauges of the TensorRT-LLM back end, from the engine's own numbers. Names, label names and values: upstream
 * `triton_backend/inflight_batcher_llm/src/custom_metrics_reporter/`.
 */
export function trtllmMetricsText(model: string, version: string, s: EngineStats): string {
  const gauge = (name: string, help: string, label: string, values: Readonly<Record<string, number>>): Family => ({
    name,
    help,
    type: 'gauge',
    samples: Object.entries(values).map(([kind, value]) => ({ labels: { model, version, [label]: kind }, value })),
  });
  const memory = process.memoryUsage();
  return [
    gauge('nv_trt_llm_request_metrics', 'TRT LLM request metrics', 'request_type', {
      waiting: s.waiting,
      context: s.context,
      scheduled: s.scheduled,
      max: s.maxRequests,
      active: s.active,
    }),
    gauge('nv_trt_llm_runtime_memory_metrics', 'TRT LLM runtime memory metrics', 'memory_type', { pinned: 0, gpu: 0, cpu: memory.rss }),
    gauge('nv_trt_llm_kv_cache_block_metrics', 'TRT LLM KV cache block metrics', 'kv_cache_block_type', {
      fraction: s.blocksMax === 0 ? 0 : s.blocksUsed / s.blocksMax,
      tokens_per: s.tokensPerBlock,
      used: s.blocksUsed,
      free: s.blocksFree,
      max: s.blocksMax,
      reused: s.blocksReused,
    }),
    gauge('nv_trt_llm_inflight_batcher_metrics', 'TRT LLM inflight_batcher-specific metrics', 'inflight_batcher_specific_metric', {
      paused_requests: s.paused,
      micro_batch_id: 0,
      generation_requests: s.generation,
      total_context_tokens: s.contextTokens,
    }),
    gauge('nv_trt_llm_general_metrics', 'General TRT LLM metrics', 'general_type', {
      iteration_counter: s.iteration,
      timestamp: Math.floor(Date.parse(wallClock()) / 1000),
    }),
  ]
    .map(familyText)
    .join('');
}
