export { metricsText } from './metrics-text.ts';
export { trtllmMetricsText } from './trtllm.ts';
