import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { unanswered } from '#checks/lab/compare-one.ts';
import { readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { failureOf, summarised } from '#checks/lab/judged.ts';
import type { Failure } from '#checks/lab/result.ts';
import { settled } from '#checks/lab/settled.ts';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { FLAG, countFlag } from '#core/transcript/index.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import type { Metrics } from '#wire/protocol/prometheus.ts';
import { agree } from './statistics-agree.ts';

const fail = (law: string, code: string, text: string): Failure => ({ law, code, text });

/** Families of a CPU core of release 2.51 and of the TensorRT-LLM backend, with their label names (docs/observed.md). */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  nv_inference_request_success: ['model', 'version'],
  nv_inference_request_failure: ['model', 'reason', 'version'],
  nv_inference_count: ['model', 'version'],
  nv_inference_exec_count: ['model', 'version'],
  nv_inference_request_duration_us: ['model', 'version'],
  nv_inference_queue_duration_us: ['model', 'version'],
  nv_inference_compute_input_duration_us: ['model', 'version'],
  nv_inference_compute_infer_duration_us: ['model', 'version'],
  nv_inference_compute_output_duration_us: ['model', 'version'],
  nv_inference_pending_request_count: ['model', 'version'],
  nv_model_load_duration_secs: ['model', 'version'],
  nv_cpu_utilization: [],
  nv_cpu_memory_total_bytes: [],
  nv_cpu_memory_used_bytes: [],
  nv_pinned_memory_pool_total_bytes: [],
  nv_pinned_memory_pool_used_bytes: [],
  nv_trt_llm_request_metrics: ['model', 'request_type', 'version'],
  nv_trt_llm_runtime_memory_metrics: ['memory_type', 'model', 'version'],
  nv_trt_llm_kv_cache_block_metrics: ['kv_cache_block_type', 'model', 'version'],
  nv_trt_llm_inflight_batcher_metrics: ['inflight_batcher_specific_metric', 'model', 'version'],
  nv_trt_llm_general_metrics: ['general_type', 'model', 'version'],
};

/** Of releases before: what came later is left out. */
function familiesOf({
  failureReasons,
  pendingRequestsMetric,
  modelLoadMetric,
  pinnedMemoryMetrics,
}: CoreProfile): readonly (readonly [string, readonly string[]])[] {
  const later = (family: string) =>
    (family === 'nv_inference_pending_request_count' && !pendingRequestsMetric.value) ||
    (family === 'nv_model_load_duration_secs' && !modelLoadMetric.value) ||
    (family.startsWith('nv_pinned_memory_pool_') && !pinnedMemoryMetrics.value);
  return Object.entries(FAMILIES)
    .filter(([family]) => !later(family))
    .map(([family, labels]) => [family, failureReasons.value ? labels : labels.filter((label) => label !== 'reason')]);
}

const names: Claim = {
  id: 'metrics-families',
  suite: 'metrics',
  statement: 'Every metrics family of the release is there with its labels.',
  routes: [],
  laws: ['metrics-present'],
  async run(lab): Promise<Outcome> {
    const metrics = await lab.metrics();
    if (metrics === undefined) return notServed('no metrics port');
    const failures: Failure[] = [];
    // The LLM API's model registers none of its own.
    const families = familiesOf(lab.profile.core).filter(
      ([family]) => !family.startsWith('nv_trt_llm_') || !lab.parts.notServed.has('raw'),
    );
    for (const [family, labels] of families) {
      const samples = metrics.families.get(family)?.samples ?? [];
      const other = samples.find((sample) => Object.keys(sample.labels).sort().join() !== labels.join());
      if (samples.length === 0) failures.push(fail('metrics-present', 'family-missing', `${family} is not served`));
      else if (other !== undefined)
        failures.push(
          fail(
            'metrics-present',
            'labels-differ',
            `${family} has a sample with the labels ${Object.keys(other.labels).sort().join(', ')}, expected ${labels.join(', ')}`,
          ),
        );
    }
    return structural(families.length, 'families', failures);
  },
};

const truth: Claim = {
  id: 'engine-metrics-true',
  suite: 'metrics',
  statement: 'While requests run the engine gauges say so, and afterwards they are back at nothing.',
  routes: ['raw'],
  laws: ['gauges-true'],
  async run(lab): Promise<Outcome> {
    if ((await readGauges(lab)) === undefined) return notServed('no nv_trt_llm_* metrics');
    const before = await untilIdle(lab);
    const prompts = lab.plan.draw('gauges', before.maxRequests + 2);
    let seenActive = 0;
    let seenWaiting = 0;
    let seenBlocks = 0;
    let done = false;
    const work = settled(
      prompts.map((p, i) =>
        lab.run({ request: requestOf(p, { maxTokens: 100, stopAtEos: false }, `-gauge-${i}`), route: 'raw', mode: lab.mode, repeat: 0 }),
      ),
    ).finally(() => (done = true));
    const watch = async (): Promise<void> => {
      while (!done) {
        const g = await readGauges(lab);
        seenActive = Math.max(seenActive, g?.active ?? 0);
        seenWaiting = Math.max(seenWaiting, g?.waiting ?? 0);
        seenBlocks = Math.max(seenBlocks, g?.blocksUsed ?? 0);
      }
    };
    const [transcripts] = await settled([work, watch()]);
    const after = await untilIdle(lab);
    const missing = transcripts.flatMap((t) => {
      const violation = unanswered(t, lab);
      return violation === undefined ? [] : [failureOf(lab, truth.id, t, violation)];
    });
    const failures: Failure[] = [...summarised(missing)];
    if (seenActive === 0)
      failures.push(fail('gauges-true', 'never-active', `${prompts.length} requests ran, request_type="active" never rose above 0`));
    if (seenBlocks === 0) failures.push(fail('gauges-true', 'never-used', `${prompts.length} requests ran, no KV block was ever in use`));
    if (after.blocksUsed !== 0)
      failures.push(fail('gauges-true', 'blocks-held', `${after.blocksUsed} blocks are in use with nothing running`));
    const steps = after.iteration - before.iteration;
    const longest = Math.max(...transcripts.map((t) => t.ids.length));
    if (steps < longest)
      failures.push(
        fail('gauges-true', 'iterations-missing', `an answer of ${longest} tokens took only ${steps} steps by iteration_counter`),
      );
    return structural(prompts.length - missing.length, 'requests watched', failures, {
      notes: [`up to ${seenActive} active, ${seenWaiting} waiting, ${seenBlocks} blocks`],
    });
  },
};

const conservation: Claim = {
  id: 'statistics-conservation',
  suite: 'metrics',
  statement: 'Every request is counted once, by statistics and metrics alike, on ensemble and BLS and on each model that they call.',
  routes: ['ensemble', 'bls'],
  laws: ['conservation'],
  async run(lab): Promise<Outcome> {
    const routes = lab.served(['ensemble', 'bls'] as const);
    if (routes.length === 0) return notServed(lab.parts.notServed.get('ensemble')!);
    const prompts = lab.plan.draw('conservation', lab.count(8));
    const failures: Failure[] = [];
    for (const route of routes) {
      const before = await counts(lab);
      const transcripts = await inParallel(prompts, 4, (p) =>
        lab.run({ request: requestOf(p, { maxTokens: 12 }), route, mode: lab.mode, repeat: 0 }),
      );
      const n = prompts.length;
      // One response is decoded by one request; the end of a BLS stream is a flag alone.
      const chunks = transcripts.reduce((sum, t) => sum + countFlag(t, FLAG.data), 0);
      const model = route === 'bls' ? lab.models.bls : lab.models.ensemble;
      const expected = { [model]: n, preprocessing: n, tensorrt_llm: n, postprocessing: chunks };
      failures.push(...(await miscountedAtLast(lab, before, expected)));
    }
    return structural(prompts.length * routes.length, 'requests counted', failures);
  },
};

/** A server counts a request when it lets go of it, which may be a moment after its answer was read. */
const COUNTED_WITHIN_MS = 2_000;

async function miscountedAtLast(lab: Lab, before: Counts, expected: Readonly<Record<string, number>>): Promise<Failure[]> {
  const endNs = nowNs() + COUNTED_WITHIN_MS * 1e6;
  for (;;) {
    const failures = miscounted(before, await counts(lab), expected);
    if (failures.length === 0 || nowNs() > endNs) return failures;
    await sleep(20, lab.signal);
  }
}

/** Where the successes of a model rose by another number than requests were made of it. */
function miscounted(before: Counts, after: Counts, expected: Readonly<Record<string, number>>): Failure[] {
  const failures: Failure[] = [];
  for (const [model, want] of Object.entries(expected)) {
    const got = (after.statistics.get(model) ?? 0) - (before.statistics.get(model) ?? 0);
    if (got !== want)
      failures.push(
        fail('conservation', 'statistics-count', `${model}: ${want} requests were made, statistics count ${got} more successes`),
      );
    if (after.metrics === undefined || before.metrics === undefined) continue;
    const label = { model, version: '1' };
    const counted =
      (after.metrics.get('nv_inference_request_success', label) ?? Number.NaN) -
      (before.metrics.get('nv_inference_request_success', label) ?? Number.NaN);
    if (counted !== want)
      failures.push(
        fail('conservation', 'metrics-count', `${model}: ${want} requests were made, nv_inference_request_success rose by ${counted}`),
      );
  }
  return failures;
}

interface Counts {
  readonly statistics: ReadonlyMap<string, number>;
  readonly metrics: Metrics | undefined;
}

async function counts(lab: Lab): Promise<Counts> {
  const statistics = await lab.parts.clients.grpc.statistics('', '', { deadlineMs: 5000 });
  return {
    statistics: new Map(statistics.map((m) => [m.name, m.inference_stats.success?.count ?? 0])),
    metrics: await lab.metrics(),
  };
}

export const CLAIMS: readonly Claim[] = [names, truth, conservation, agree];
