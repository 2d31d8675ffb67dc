import { expect, test } from 'vitest';
import { ensemble, GrpcLab, preprocessing, inferMessage, stream } from '../grpc/testing.ts';

/** Families of a real 2.51 core without a GPU and of the TensorRT-LLM models on it, in no order. */
const FAMILIES = [
  'nv_cpu_memory_total_bytes gauge',
  'nv_cpu_memory_used_bytes gauge',
  'nv_cpu_utilization gauge',
  'nv_inference_compute_infer_duration_us counter',
  'nv_inference_compute_input_duration_us counter',
  'nv_inference_compute_output_duration_us counter',
  'nv_inference_count counter',
  'nv_inference_exec_count counter',
  'nv_inference_pending_request_count gauge',
  'nv_inference_queue_duration_us counter',
  'nv_inference_request_duration_us counter',
  'nv_inference_request_failure counter',
  'nv_inference_request_success counter',
  'nv_pinned_memory_pool_total_bytes gauge',
  'nv_pinned_memory_pool_used_bytes gauge',
  'nv_trt_llm_general_metrics gauge',
  'nv_trt_llm_inflight_batcher_metrics gauge',
  'nv_trt_llm_kv_cache_block_metrics gauge',
  'nv_trt_llm_request_metrics gauge',
  'nv_trt_llm_runtime_memory_metrics gauge',
];

test('families, and counts that agree with the statistics', async () => {
  await using lab = await GrpcLab.start();
  await lab.stream(ensemble('x', 3, [stream]));
  await lab.call('ModelInfer', inferMessage(preprocessing([Uint8Array.of(0xff)])));
  const text = lab.core.metricsText();
  expect([...text.matchAll(/^# TYPE (\S+ \S+)$/gm)].map((m) => String(m[1])).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(FAMILIES);
  const value = (series: string) => new RegExp(`^${series.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1];
  expect(value('nv_inference_request_success{model="postprocessing",version="1"}')).toBe('3');
  expect(value('nv_inference_request_failure{model="preprocessing",reason="BACKEND",version="1"}')).toBe('1');
  expect(value('nv_inference_request_failure{model="preprocessing",reason="CANCELED",version="1"}')).toBe('0');
  expect(value('nv_inference_exec_count{model="preprocessing",version="1"}')).toBe('2');
  expect(value('nv_inference_pending_request_count{model="ensemble",version="1"}')).toBe('0');
  expect(value('nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="used",model="tensorrt_llm",version="1"}')).toBe('0');
});
