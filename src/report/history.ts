/** Earlier runs: one line of JSON each, appended when a run ends. */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { makeFolders, writeFileAtomic } from '#core/files/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { claimKey } from './claim-name.ts';
import type { RunReport } from './run-report.ts';

export interface HistoryRun {
  readonly schema: 1;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly outcome: string;
  /** Runs that can be set beside each other: the same kind of target, profile, faults and goldens. */
  readonly series: string;
  /** Short hash of everything that could change an answer: on one and the same, a claim that changes is flaky. */
  readonly identity: string;
  /** Keys of the claims. */
  readonly held: readonly string[];
  readonly failed: readonly string[];
  /** Route raw: tokens compared up to each answer's first divergence, and how many answers parted. */
  readonly tokens: number;
  readonly parted: number;
}

/** Runs that a report shows, and that are kept when the file has grown large. */
const KEPT = 200;
const LARGE_BYTES = 8_000_000;

/** Undefined where nothing was judged on a target. */
export function historyRunOf(report: RunReport): HistoryRun | undefined {
  const { header, claims, outcome, startedAt } = report;
  if (header === undefined || claims.length === 0 || outcome === 'interrupted' || outcome === 'broken') return undefined;
  const { target, identity, profile, faults, goldens } = header;
  const keys = (status: string) => claims.flatMap(({ claim }) => (claim.status === status ? [claimKey(claim.suite, claim.id)] : []));
  const raw = claims
    .flatMap(({ claim }) => claim.cases ?? [])
    .flatMap(({ tokens, verdict }) => (tokens === undefined ? [] : [{ tokens, verdict }]));
  const parted = raw.filter(({ verdict }) => verdict !== 'identical').length;
  return {
    schema: 1,
    at: startedAt,
    outcome,
    series: [target, profile, ...faults, goldens].join(' · '),
    identity: shortHash(canonicalJson([identity, profile, faults])),
    held: keys('held'),
    failed: keys('failed'),
    tokens: raw.reduce((sum, { tokens }) => sum + tokens, 0) + parted,
    parted,
  };
}

/**
 * Adds a run. One write of one line, so that runs that end together do not mix; a line that a killed run left half is
 * closed first. Errors: `file-not-writable`.
 */
export function appendHistory(path: string, run: HistoryRun): void {
  try {
    makeFolders(dirname(path));
    appendFileSync(path, `${endsWithin(path) ? '\n' : ''}${JSON.stringify(run)}\n`);
    if (sizeOf(path) > LARGE_BYTES) writeFileAtomic(path, `${linesOf(path).slice(-KEPT).join('\n')}\n`);
  } catch (thrown) {
    throw new LockstepError('file-not-writable', `cannot write ${path}: ${LockstepError.from(thrown).message}`, {
      hint: 'Check the folder and the disk; the report is complete without it, but for its history.',
      cause: thrown,
    });
  }
}

/** The runs of a series, oldest first, at most 200; what cannot be read is left out, since it can only be a line cut short. */
export function readHistory(path: string, series: string): readonly HistoryRun[] {
  const runs: HistoryRun[] = [];
  for (const line of linesOf(path)) {
    const run = parsed(line);
    if (run?.schema === 1 && run.series === series) runs.push(run);
  }
  return runs.slice(-KEPT);
}

function parsed(line: string): HistoryRun | undefined {
  try {
    return JSON.parse(line) as HistoryRun;
  } catch {
    return undefined;
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  return withFile(path, (file) => fstatSync(file).size) ?? 0;
}

/** Whether the last line was not ended. */
function endsWithin(path: string): boolean {
  const last = withFile(path, (file) => {
    const { size } = fstatSync(file);
    const byte = Buffer.alloc(1);
    return size === 0 || readSync(file, byte, 0, 1, size - 1) === 0 ? undefined : byte.toString();
  });
  return last !== undefined && last !== '\n';
}

function withFile<T>(path: string, look: (file: number) => T): T | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return look(file);
  } finally {
    closeSync(file);
  }
}
