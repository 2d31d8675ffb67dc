import { nowNs, wallClock } from '#core/clock/index.ts';
import type { DurationStatistics, ModelStatistics } from '#wire/protocol/server-state.ts';

/** Wall-clock time at nanosecond 0 of the monotonic clock, so that counting a chunk does not format a date. */
const PROCESS_START_MS = Date.parse(wallClock()) - nowNs() / 1e6;

/** Reasons of nv_inference_request_failure; all four are exported at 0 from the start. */
export const FAILURE_REASONS = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Times of one execution, nanoseconds on the monotonic clock. */
export interface ExecutionTimes {
  readonly queuedNs: number;
  readonly startNs: number;
  readonly inputDoneNs: number;
  readonly inferDoneNs: number;
  readonly endNs: number;
}

/**
 * Counters of one model version, conserved as on real servers: every request that was queued ends as exactly one
 * success or one failure, and a cancelled request that the model closes counts as success.
 */
export class StatisticsRecorder {
  #lastInferenceMs = 0;
  #inferences = 0;
  #executions = 0;
  #pending = 0;
  readonly #success = duration();
  readonly #fail = duration();
  readonly #queue = duration();
  readonly #input = duration();
  readonly #infer = duration();
  readonly #output = duration();
  readonly #batches = new Map<number, { input: Duration; infer: Duration; output: Duration }>();
  readonly #failures = new Map<FailureReason, number>(FAILURE_REASONS.map((r) => [r, 0]));
  readonly #frozen: boolean;

  /** `frozen`: the fault `stats-fail-when-kv-off`: updates fail, so nothing is ever counted. */
  constructor(frozen: boolean) {
    this.#frozen = frozen;
  }

  queued(): void {
    this.#pending++;
  }

  started(): void {
    this.#pending--;
  }

  /** One execution of the model's code, whether its request succeeds or fails: what batch_stats count. */
  executed(batchSize: number, t: ExecutionTimes): void {
    if (this.#frozen) return;
    this.#executions++;
    let batch = this.#batches.get(batchSize);
    if (batch === undefined) this.#batches.set(batchSize, (batch = { input: duration(), infer: duration(), output: duration() }));
    add(batch.input, t.inputDoneNs - t.startNs);
    add(batch.infer, t.inferDoneNs - t.inputDoneNs);
    add(batch.output, t.endNs - t.inferDoneNs);
  }

  succeeded(batchSize: number, t: ExecutionTimes): void {
    if (this.#frozen) return;
    this.#lastInferenceMs = Math.round(PROCESS_START_MS + t.endNs / 1e6);
    this.#inferences += batchSize;
    add(this.#success, t.endNs - t.queuedNs);
    add(this.#queue, t.startNs - t.queuedNs);
    add(this.#input, t.inputDoneNs - t.startNs);
    add(this.#infer, t.inferDoneNs - t.inputDoneNs);
    add(this.#output, t.endNs - t.inferDoneNs);
  }

  failed(reason: FailureReason, t: { readonly queuedNs: number; readonly endNs: number }): void {
    if (this.#frozen) return;
    this.#lastInferenceMs = Math.round(PROCESS_START_MS + t.endNs / 1e6);
    add(this.#fail, t.endNs - t.queuedNs);
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  get pending(): number {
    return this.#pending;
  }

  get failures(): ReadonlyMap<FailureReason, number> {
    return this.#failures;
  }

  snapshot(name: string, version: string): ModelStatistics {
    return {
      name,
      version,
      last_inference: this.#lastInferenceMs,
      inference_count: this.#inferences,
      execution_count: this.#executions,
      inference_stats: {
        success: rounded(this.#success),
        fail: rounded(this.#fail),
        queue: rounded(this.#queue),
        compute_input: rounded(this.#input),
        compute_infer: rounded(this.#infer),
        compute_output: rounded(this.#output),
        cache_hit: { count: 0, ns: 0 },
        cache_miss: { count: 0, ns: 0 },
      },
      response_stats: {},
      batch_stats: [...this.#batches].map(([batch_size, b]) => ({
        batch_size,
        compute_input: rounded(b.input),
        compute_infer: rounded(b.infer),
        compute_output: rounded(b.output),
      })),
      memory_usage: [],
    };
  }
}

interface Duration {
  count: number;
  ns: number;
}

function duration(): Duration {
  return { count: 0, ns: 0 };
}

function add(d: Duration, ns: number): void {
  d.count++;
  d.ns += Math.max(0, ns);
}

function rounded(d: Duration): DurationStatistics {
  return { count: d.count, ns: Math.round(d.ns) };
}
