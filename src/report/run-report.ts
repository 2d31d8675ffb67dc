/** The finished run as data, read from vitest's tree only, so that a merged run reports what a direct one did. */
import type { SerializedError } from 'vitest';
import type { TestCase, TestModule } from 'vitest/node';
import type { IdentityDifference } from './provided.ts';
import type { ClaimResult, RunHeader } from '#checks/lab/result.ts';

export type RunOutcome =
  /** Every claim holds. */
  | 'held'
  | 'failed'
  /** Nothing was judged: something beside the claims went wrong (a file that does not load), or no claim was served. */
  | 'broken'
  | 'interrupted';

export interface ClaimEntry {
  readonly claim: ClaimResult;
  /** File of the claim, relative to the project. */
  readonly file: string;
}

export interface TestFailure {
  readonly name: string;
  readonly file: string;
  readonly message: string;
}

/** Tests that are no claims, condensed per project. */
export interface UnitCounts {
  readonly project: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly durationMs: number;
  readonly failures: readonly TestFailure[];
}

export interface RunReport {
  readonly header: RunHeader | undefined;
  readonly identityDifferences: readonly IdentityDifference[];
  readonly claims: readonly ClaimEntry[];
  readonly units: readonly UnitCounts[];
  /** Messages of errors that belong to no test. */
  readonly errors: readonly string[];
  readonly outcome: RunOutcome;
  readonly startedAt: string;
  readonly durationMs: number;
}

export interface RunFacts {
  readonly header: RunHeader | undefined;
  readonly identityDifferences: readonly IdentityDifference[];
  readonly startedAt: string;
  readonly durationMs: number;
  readonly interrupted: boolean;
}

export function buildRunReport(modules: readonly TestModule[], unhandled: readonly SerializedError[], facts: RunFacts): RunReport {
  const claims: ClaimEntry[] = [];
  const units = new Map<string, UnitCounts>();
  const errors = unhandled.map((error) => error.message);
  // In the order of their names: which file ran first is another thing in every run, and in a merged one.
  for (const module of modules.toSorted((a, b) => (a.relativeModuleId < b.relativeModuleId ? -1 : 1))) {
    for (const error of module.errors()) errors.push(`${module.relativeModuleId}: ${error.message}`);
    for (const test of module.children.allTests()) {
      const claim = claimOf(test);
      if (claim === undefined) addUnit(units, test);
      else if (!facts.interrupted || !isUnfinished(claim)) claims.push({ claim, file: module.relativeModuleId });
    }
  }
  const run = modules.map((module) => module.meta().lockstepRun).find((found) => found !== undefined);
  return {
    header: facts.header ?? run?.header,
    identityDifferences: facts.header === undefined ? (run?.identityDifferences ?? []) : facts.identityDifferences,
    claims,
    units: [...units.values()],
    errors,
    outcome: outcomeOf(claims, [...units.values()], errors, facts.interrupted),
    startedAt: facts.startedAt,
    durationMs: facts.durationMs,
  };
}

/** The claim's own result; a test that failed around a claim that held (a hook, the time limit) is a failed claim. */
export function claimOf(test: TestCase): ClaimResult | undefined {
  const claim = timed(test);
  const result = test.result();
  if (claim === undefined || result.state !== 'failed' || claim.status === 'failed') return claim;
  const text = result.errors.map((error) => error.message).join('\n');
  return { ...claim, status: 'failed', failures: [{ law: '', code: 'test-failed', text }] };
}

/** A claim that was ended from outside had no chance to write down how long it took. */
function timed(test: TestCase): ClaimResult | undefined {
  const claim = test.meta().lockstep;
  return claim !== undefined && isUnfinished(claim) ? { ...claim, durationMs: test.diagnostic()?.duration ?? claim.durationMs } : claim;
}

/** The target serves none of the claims that were asked for. */
export function nothingJudged(claims: readonly ClaimEntry[]): boolean {
  return claims.length > 0 && claims.every(({ claim }) => claim.status === 'not-served');
}

export function isUnfinished(claim: ClaimResult): boolean {
  return claim.failures[0]?.code === 'claim-unfinished';
}

function addUnit(units: Map<string, UnitCounts>, test: TestCase): void {
  const project = test.project.name || 'tests';
  const before = units.get(project) ?? { project, passed: 0, failed: 0, skipped: 0, durationMs: 0, failures: [] };
  const result = test.result();
  // Claims that a filter or an interruption left out never ran, and are no unit tests.
  if (result.state === 'pending' || (result.state === 'skipped' && project === 'suites')) return;
  const durationMs = before.durationMs + (test.diagnostic()?.duration ?? 0);
  const counted = { ...before, durationMs, [result.state]: before[result.state] + 1 };
  const failure = {
    name: test.fullName,
    file: test.module.relativeModuleId,
    message: (result.errors ?? []).map((error) => error.message).join('\n'),
  };
  units.set(project, result.state === 'failed' ? { ...counted, failures: [...before.failures, failure] } : counted);
}

function outcomeOf(
  claims: readonly ClaimEntry[],
  units: readonly UnitCounts[],
  errors: readonly string[],
  interrupted: boolean,
): RunOutcome {
  if (interrupted) return 'interrupted';
  if (claims.some(({ claim }) => claim.status === 'failed') || units.some((unit) => unit.failed > 0)) return 'failed';
  return errors.length > 0 || nothingJudged(claims) ? 'broken' : 'held';
}
