import { expect, test } from 'vitest';
import { parseMetrics } from './prometheus.ts';

const TEXT = `# HELP nv_inference_request_failure Number of failed inference requests, all batch sizes
# TYPE nv_inference_request_failure counter
nv_inference_request_failure{model="ensemble",reason="REJECTED",version="1"} 5
nv_inference_request_failure{model="ensemble",reason="OTHER",version="1"} 2
nv_inference_request_failure{model="tensorrt_llm",reason="OTHER",version="1"} 1
# HELP nv_cpu_utilization CPU utilization rate [0.0 - 1.0]
# TYPE nv_cpu_utilization gauge
nv_cpu_utilization 0.25
# HELP nv_llm_input_token_len Prompt\\nlength with a back\\\\slash
# TYPE nv_llm_input_token_len histogram
nv_llm_input_token_len_count{model="tensorrt_llm",version="1"} 3
nv_llm_input_token_len_sum{model="tensorrt_llm",version="1"} 1.1e+02
nv_llm_input_token_len_bucket{model="tensorrt_llm",version="1",le="50"} 2
nv_llm_input_token_len_bucket{model="tensorrt_llm",version="1",le="+Inf"} 3
# TYPE odd gauge
odd{path="C:\\\\a \\"b\\", {c}\\n",empty=""} NaN 1700000000000
odd2 { } -Inf
untyped_sum 4
`;

test('values are found by name and any part of the labels, and are added up', () => {
  const metrics = parseMetrics(TEXT);
  expect(metrics.get('nv_cpu_utilization')).toBe(0.25);
  expect(metrics.get('nv_inference_request_failure', { model: 'ensemble' })).toBe(7);
  expect(metrics.get('nv_inference_request_failure', { model: 'ensemble', reason: 'OTHER' })).toBe(2);
  expect(metrics.get('nv_inference_request_failure', { model: 'nobody' })).toBeUndefined();
  expect(metrics.get('nothing')).toBeUndefined();
  expect(metrics.get('nv_llm_input_token_len_bucket', { le: '+Inf' })).toBe(3);
  expect(metrics.get('odd2')).toBe(-Infinity);
});

test('families have their kind, their help and their samples', () => {
  const { families } = parseMetrics(TEXT);
  expect([...families.values()].map((f) => [f.name, f.kind, f.samples.length])).toEqual([
    ['nv_inference_request_failure', 'counter', 3],
    ['nv_cpu_utilization', 'gauge', 1],
    ['nv_llm_input_token_len', 'histogram', 4],
    ['odd', 'gauge', 1],
    ['odd2', 'untyped', 1],
    ['untyped_sum', 'untyped', 1],
  ]);
  expect(families.get('nv_llm_input_token_len')?.help).toBe('Prompt\nlength with a back\\slash');
  expect(families.get('odd')?.samples[0]).toEqual({ name: 'odd', labels: { path: 'C:\\a "b", {c}\n', empty: '' }, value: Number.NaN });
});

test.each([
  ['nv_x{a="b" 1', 'its labels do not end'],
  ['nv_x{a="b"} one', '"one" is no number'],
  ['nv_x', '"" is no number'],
  ['{a="b"} 1', 'no metric name'],
  ['nv_x 1 2 3', 'text follows the timestamp'],
])('%s is malformed, and the line is named', (line, why) => {
  expect(() => parseMetrics(`ok 1\n${line}\n`)).toThrow(`[metrics-malformed] line 2 of the metrics is malformed: ${why}`);
});
