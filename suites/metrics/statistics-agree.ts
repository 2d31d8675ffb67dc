import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { untilIdle } from '#checks/lab/engine-gauges.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import type { Failure } from '#checks/lab/result.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { Metrics } from '#wire/protocol/prometheus.ts';
import type { ModelStatistics } from '#wire/protocol/server-state.ts';
import { bytes, ensemble, int32 } from '../protocol/requests.ts';
import { PlainGrpc, inferMessage } from '../protocol/wire.ts';

/** Requests that fail in a step, so that failures are counted too. */
const FAILING = 3;

/**
 * What ModelStatistics says in nanoseconds and the metrics say in microseconds is counted in one place of the core
 * (triton-inference-server/core src/infer_stats.cc), so both must tell the same story of every model.
 */
export const agree: Claim = {
  id: 'statistics-agree',
  suite: 'metrics',
  statement: 'Statistics and metrics of every model agree on successes, failures, inferences, executions, batches and times.',
  routes: ['ensemble'],
  laws: ['conservation'],
  async run(lab): Promise<Outcome> {
    if (lab.served(['ensemble']).length === 0) return notServed(lab.parts.notServed.get('ensemble')!);
    if ((await lab.metrics()) === undefined) return notServed('no metrics port');
    const before = await look(lab);
    await inParallel(lab.plan.draw('statistics', lab.count(4)), 2, (p) =>
      lab.run({ request: requestOf(p, { maxTokens: 6 }), route: 'ensemble', mode: lab.mode, repeat: 0 }),
    );
    using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
    const broken = ensemble('', 4, [], { inputs: [bytes('text_input', [1, 1], [Uint8Array.of(0xff)]), int32('max_tokens', [1, 1], [4])] });
    for (let i = 0; i < FAILING; i++) await client.stream([inferMessage(broken)], lab.parts.deadlineMs);
    await untilIdle(lab);
    const after = await look(lab);
    const failures: Failure[] = [];
    let n = 0;
    for (const [model, stats] of after.statistics) {
      const change = difference(stats, before.statistics.get(model));
      const texts = disagreements(change, (family) => risen(before.metrics, after.metrics, family, model));
      failures.push(...texts.map((text) => ({ law: 'conservation', code: 'statistics-and-metrics', text: `${model}: ${text}` })));
      if (change.success + change.fail > 0) n++;
    }
    // An ensemble counts the failure of a step twice, once as the step's and once as its own (docs/observed.md#triton-2-51).
    for (const [model, times] of [
      ['ensemble', lab.profile.core.stepFailuresCountTwice.value ? 2 : 1],
      ['preprocessing', 1],
    ] as const) {
      const { fail } = difference(after.statistics.get(model)!, before.statistics.get(model));
      if (fail !== FAILING * times)
        failures.push({
          law: 'conservation',
          code: 'failures-count',
          text: `${model}: ${FAILING} requests failed in preprocessing, statistics count ${fail} more failures where ${FAILING * times} belong`,
        });
    }
    // Servers of this project's launching batch nothing, so every request is one execution, in most releases also one that fails.
    const { executions, success, fail } = difference(after.statistics.get('preprocessing')!, before.statistics.get('preprocessing'));
    if (lab.parts.owned && executions !== success + (lab.profile.core.failuresExecute.value ? fail : 0))
      failures.push({
        law: 'conservation',
        code: 'executions-count',
        text: `preprocessing: ${success} requests succeeded and ${fail} failed, statistics count ${executions} executions`,
      });
    return structural(n, 'models with requests', failures);
  },
};

interface Seen {
  readonly statistics: ReadonlyMap<string, ModelStatistics>;
  readonly metrics: Metrics;
}

/** Both as they were at one moment: requests are counted a moment after their answers, and between two readings too. */
async function look(lab: Lab): Promise<Seen> {
  const statistics = () => lab.parts.clients.grpc.statistics('', '', { deadlineMs: 5000 });
  return pollUntil({ ms: 10_000, everyMs: 20, what: 'two readings of all statistics that are the same' }, async () => {
    const before = await statistics();
    const metrics = (await lab.metrics())!;
    const same = canonicalJson(before) === canonicalJson(await statistics());
    return same ? { statistics: new Map(before.map((m) => [m.name, m])), metrics } : undefined;
  });
}

const PARTS = ['queue', 'compute_input', 'compute_infer', 'compute_output'] as const;

interface Change {
  readonly success: number;
  readonly fail: number;
  readonly inferences: number;
  readonly executions: number;
  /** Nanoseconds, by the name of the duration. */
  readonly ns: Readonly<Record<'success' | (typeof PARTS)[number], number>>;
  /** Executions by the batch table, of requests that failed too. */
  readonly batched: number;
}

function difference(now: ModelStatistics, then: ModelStatistics | undefined): Change {
  const count = (name: 'success' | 'fail') => (now.inference_stats[name]?.count ?? 0) - (then?.inference_stats[name]?.count ?? 0);
  const ns = (name: 'success' | (typeof PARTS)[number]) => (now.inference_stats[name]?.ns ?? 0) - (then?.inference_stats[name]?.ns ?? 0);
  const batched = (m: ModelStatistics | undefined) => (m?.batch_stats ?? []).reduce((sum, b) => sum + b.compute_infer.count, 0);
  return {
    success: count('success'),
    fail: count('fail'),
    inferences: now.inference_count - (then?.inference_count ?? 0),
    executions: now.execution_count - (then?.execution_count ?? 0),
    ns: {
      success: ns('success'),
      queue: ns('queue'),
      compute_input: ns('compute_input'),
      compute_infer: ns('compute_infer'),
      compute_output: ns('compute_output'),
    },
    batched: batched(now) - batched(then),
  };
}

/** Metrics that name the same duration, in microseconds. */
const DURATIONS = {
  success: 'nv_inference_request_duration_us',
  queue: 'nv_inference_queue_duration_us',
  compute_input: 'nv_inference_compute_input_duration_us',
  compute_infer: 'nv_inference_compute_infer_duration_us',
  compute_output: 'nv_inference_compute_output_duration_us',
} as const;

function disagreements(change: Change, metric: (family: string) => number): string[] {
  const texts: string[] = [];
  const equal = (what: string, statistics: number, metrics: number) => {
    if (statistics !== metrics) texts.push(`${what}: statistics count ${statistics} more, metrics ${metrics}`);
  };
  equal('successes', change.success, metric('nv_inference_request_success'));
  equal('failures', change.fail, metric('nv_inference_request_failure'));
  equal('inferences', change.inferences, metric('nv_inference_count'));
  equal('executions', change.executions, metric('nv_inference_exec_count'));
  // Each request's time is cut to whole microseconds before it is added, so up to one per request is lost.
  for (const [name, family] of Object.entries(DURATIONS) as [keyof typeof DURATIONS, string][]) {
    const lost = change.ns[name] / 1000 - metric(family);
    if (lost < -1 || lost > change.success + change.fail + 1)
      texts.push(`${family} rose by ${metric(family)} µs where statistics have ${Math.round(change.ns[name] / 1000)}`);
  }
  const parts = PARTS.reduce((sum, part) => sum + change.ns[part], 0);
  if (parts > change.ns.success) texts.push(`queue and compute took ${parts} ns together, the requests only ${change.ns.success}`);
  if (change.batched !== change.executions)
    texts.push(`batch_stats count ${change.batched} executions, execution_count ${change.executions}`);
  return texts;
}

/** The rise of a counter over all samples of a model. */
function risen(before: Metrics, after: Metrics, family: string, model: string): number {
  const sum = (m: Metrics) =>
    (m.families.get(family)?.samples ?? []).filter((s) => s.labels['model'] === model).reduce((total, s) => total + s.value, 0);
  return sum(after) - sum(before);
}
