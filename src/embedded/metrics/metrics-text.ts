import type { LoadedModel } from '../core/loaded-model.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import { FAILURE_REASONS } from '../core/statistics.ts';
import { type Family, familyText } from './family.ts';
import { hostFamilies } from './host.ts';

/** The CPU families of a core (docs/observed.md#triton-2-51), then what models add. */
export function metricsText(models: readonly LoadedModel[], core: CoreProfile): string {
  const families = [...inferenceFamilies(models, core), ...hostFamilies()].filter(
    ({ name }) =>
      (name !== 'nv_inference_pending_request_count' || core.pendingRequestsMetric.value) &&
      (name !== 'nv_model_load_duration_secs' || core.modelLoadMetric.value) &&
      (!name.startsWith('nv_pinned_memory_pool_') || core.pinnedMemoryMetrics.value),
  );
  return families.map(familyText).join('') + models.map((m) => m.implementation?.metricsText?.() ?? '').join('');
}

function inferenceFamilies(models: readonly LoadedModel[], core: CoreProfile): Family[] {
  const snapshots = models.map((m) => ({ labels: { model: m.name, version: m.version }, s: m.statistics.snapshot(m.name, m.version), m }));
  const counter = (name: string, help: string, value: (s: (typeof snapshots)[number]['s']) => number): Family => ({
    name,
    help,
    type: 'counter',
    samples: snapshots.map(({ labels, s }) => ({ labels, value: value(s) })),
  });
  const micros = (ns: number): number => Math.floor(ns / 1000);
  return [
    counter(
      'nv_inference_request_success',
      'Number of successful inference requests, all batch sizes',
      (s) => s.inference_stats.success.count,
    ),
    {
      name: 'nv_inference_request_failure',
      help: 'Number of failed inference requests, all batch sizes',
      type: 'counter',
      samples: snapshots.flatMap(({ labels, s, m }) =>
        !core.failureReasons.value
          ? [{ labels, value: s.inference_stats.fail.count }]
          : FAILURE_REASONS.map((reason) => ({ labels: { ...labels, reason }, value: m.statistics.failures.get(reason) ?? 0 })),
      ),
    },
    counter('nv_inference_count', 'Number of inferences performed (does not include cached requests)', (s) => s.inference_count),
    counter('nv_inference_exec_count', 'Number of model executions performed (does not include cached requests)', (s) => s.execution_count),
    counter('nv_inference_request_duration_us', 'Cumulative inference request duration in microseconds (includes cached requests)', (s) =>
      micros(s.inference_stats.success.ns),
    ),
    counter('nv_inference_queue_duration_us', 'Cumulative inference queuing duration in microseconds (includes cached requests)', (s) =>
      micros(s.inference_stats.queue.ns),
    ),
    counter(
      'nv_inference_compute_input_duration_us',
      'Cumulative compute input duration in microseconds (does not include cached requests)',
      (s) => micros(s.inference_stats.compute_input.ns),
    ),
    counter(
      'nv_inference_compute_infer_duration_us',
      'Cumulative compute inference duration in microseconds (does not include cached requests)',
      (s) => micros(s.inference_stats.compute_infer.ns),
    ),
    counter(
      'nv_inference_compute_output_duration_us',
      'Cumulative inference compute output duration in microseconds (does not include cached requests)',
      (s) => micros(s.inference_stats.compute_output.ns),
    ),
    {
      name: 'nv_inference_pending_request_count',
      help: 'Instantaneous number of pending requests awaiting execution per-model.',
      type: 'gauge',
      samples: snapshots.map(({ labels, m }) => ({ labels, value: m.statistics.pending })),
    },
    {
      name: 'nv_model_load_duration_secs',
      help: 'Model load time in seconds',
      type: 'gauge',
      samples: snapshots.map(({ labels, m }) => ({ labels, value: m.loadSeconds })),
    },
  ];
}
