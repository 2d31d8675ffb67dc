/** `claim()`: one vitest test that says what holds, on how many cases, and hands the evidence to every report. */
import { inject, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { formatError, LockstepError } from '#core/errors/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Verdict } from '#checks/compare/types.ts';
import { claimName } from './claim-name.ts';
import type { ProvidedRun } from './provided.ts';
import { renderFailure } from './terminal/failure.ts';
import { PLAIN } from './terminal/style.ts';
import type { ClaimResult, ComparedCase, Failure, GapCount } from '#checks/lab/result.ts';

export interface ClaimSpec {
  /** Kebab-case, unique within the suite. */
  readonly id: string;
  readonly suite: string;
  /** One sentence: what is claimed. */
  readonly statement: string;
  readonly routes: readonly RouteId[];
  readonly laws: readonly string[];
  /** Hard limit in milliseconds; when absent 60 000, and 600 000 on an external target, which may be slow. */
  readonly timeoutMs?: number;
}

export interface ClaimRun {
  /** Aborts at the claim's time limit, at an interruption and at bail; belongs in every call. */
  readonly signal: AbortSignal;
  /** What the global set-up provided. */
  readonly provided: ProvidedRun;
}

export interface ClaimOutcome {
  readonly evidence: ClaimResult['evidence'];
  readonly failures: readonly Failure[];
  readonly verdict?: Verdict | undefined;
  readonly gaps?: readonly GapCount[];
  readonly gapsGone?: readonly string[];
  readonly cases?: readonly ComparedCase[] | undefined;
  /** Why the target cannot carry the claim (no OpenAI front end, no such model), as a phrase; nothing is judged then. */
  readonly notServed?: string | undefined;
}

const TIMEOUT_MS = 60_000;
const EXTERNAL_TIMEOUT_MS = 600_000;
const NO_EVIDENCE: ClaimResult['evidence'] = { n: 0, k: 0, bound: undefined, unit: 'cases', notes: [] };

/**
 * Defines a claim. It fails when `body` reports failures, when `body` throws, when it does not end in time, and when
 * no case exercised it (`n` = 0).
 */
export function claim(spec: ClaimSpec, body: (run: ClaimRun) => Promise<ClaimOutcome>): void {
  const limitMs = limitOf(spec, inject('lockstep'));
  test(claimName(spec.suite, spec.id, spec.statement), { timeout: limitMs }, async ({ task, signal }) => {
    const provided = inject('lockstep');
    if (provided !== undefined) {
      task.file.meta.lockstepRun = { header: provided.header, identityDifferences: provided.identityDifferences };
    }
    const startNs = nowNs();
    const finish = (outcome: ClaimOutcome) => {
      const result = toResult(spec, outcome, (nowNs() - startNs) / 1e6);
      task.meta.lockstep = result;
      return result;
    };
    // What every report sees when the test is ended from outside, at its time limit.
    finish(brokenOff('claim-unfinished', `the claim did not end within ${limitMs} ms, or was interrupted`));
    let result: ClaimResult;
    try {
      const outcome = await body({ signal, provided });
      // Too late: the test has been reported as it stood at its limit.
      signal.throwIfAborted();
      result = finish(outcome);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      result = finish(brokenOff('claim-crashed', describeThrown(thrown)));
    }
    const [first] = result.failures;
    if (result.status === 'failed' && first !== undefined) throw new ClaimFailure(result, first);
  });
}

/** The servers that this project starts answer within milliseconds; of one that it finds nothing is known. */
function limitOf(spec: ClaimSpec, provided: ProvidedRun | undefined): number {
  const own = spec.timeoutMs ?? TIMEOUT_MS;
  return provided?.config.target === 'external' || provided?.config.target === 'openai' ? Math.max(own, EXTERNAL_TIMEOUT_MS) : own;
}

/** The error of a failed claim; its message is the first screen of the report. */
class ClaimFailure extends Error {
  override readonly name = 'ClaimFailure';

  constructor(result: ClaimResult, first: Failure) {
    super(renderFailure(result, first, { style: PLAIN, columns: 100 }));
    this.stack = `${this.name}: ${this.message}`;
  }
}

function toResult(spec: ClaimSpec, outcome: ClaimOutcome, durationMs: number): ClaimResult {
  const served = outcome.notServed === undefined;
  const failures = served ? exercised(outcome) : [];
  return {
    id: spec.id,
    suite: spec.suite,
    statement: spec.statement,
    routes: spec.routes,
    laws: spec.laws,
    status: served ? (failures.length > 0 ? 'failed' : 'held') : 'not-served',
    verdict: outcome.verdict,
    evidence: served ? outcome.evidence : { ...outcome.evidence, notes: [outcome.notServed, ...outcome.evidence.notes] },
    failures,
    gaps: outcome.gaps ?? [],
    gapsGone: outcome.gapsGone ?? [],
    ...(outcome.cases === undefined ? {} : { cases: outcome.cases }),
    durationMs,
  };
}

/** Nothing is green by vacuum. */
function exercised(outcome: ClaimOutcome): readonly Failure[] {
  if (outcome.failures.length > 0 || outcome.evidence.n > 0) return outcome.failures;
  return [{ law: '', code: 'not-exercised', text: 'nothing exercised this claim: no case of the plan applied to it' }];
}

function brokenOff(code: string, text: string): ClaimOutcome {
  return { evidence: NO_EVIDENCE, failures: [{ law: '', code, text }] };
}

function describeThrown(thrown: unknown): string {
  if (thrown instanceof LockstepError) return formatError(thrown);
  return thrown instanceof Error ? ownFrames(thrown.stack ?? thrown.message) : String(thrown);
}

/** Frames of the runner and of Node say nothing about the claim. */
function ownFrames(stack: string): string {
  const lines = stack.split('\n').filter((line) => !/^\s+at .*(?:node_modules|node:|<anonymous>)/.test(line));
  return lines.map((line) => line.replaceAll(`${process.cwd()}/`, '')).join('\n');
}
