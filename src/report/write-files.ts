/** The files of a finished run. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { appendHistory, historyRunOf, readHistory } from './history.ts';
import { renderHtml } from './html/index.ts';
import { renderJobSummary } from './job-summary.ts';
import { renderJson, toJsonReport } from './json.ts';
import { renderJunit } from './junit.ts';
import type { RunReport } from './run-report.ts';

export interface ReportFiles {
  /** Asked for: written whatever came out. */
  readonly json?: string | undefined;
  readonly junit?: string | undefined;
  readonly html?: string | undefined;
  /** Where the page goes that nobody asked for, when claims failed. */
  readonly htmlOnFailure: string;
  readonly history: string;
  /** File of GitHub's job summary, to which others add too. */
  readonly jobSummary?: string | undefined;
}

export interface WrittenFiles {
  /** Path of the page, if there is one. */
  readonly html: string | undefined;
  /** Why something that nobody asked for could not be written. */
  readonly notes: readonly string[];
}

export const HISTORY_FILE = join(PACKAGE_ROOT, '.cache/history.jsonl');

/** Errors: `file-not-writable`, for what was asked for. */
export function writeReportFiles(report: RunReport, files: ReportFiles): WrittenFiles {
  const notes: string[] = [];
  const unasked = (write: () => void): boolean => {
    try {
      write();
      return true;
    } catch (thrown) {
      notes.push(LockstepError.from(thrown).message);
      return false;
    }
  };
  if (files.json !== undefined) writeFileAtomic(files.json, renderJson(report));
  if (files.junit !== undefined) writeFileAtomic(files.junit, renderJunit(report));
  const { jobSummary } = files;
  if (jobSummary !== undefined) unasked(() => appendFileSync(jobSummary, renderJobSummary(toJsonReport(report))));
  const run = historyRunOf(report);
  if (run !== undefined) unasked(() => appendHistory(files.history, run));
  const page = () => renderHtml({ report: toJsonReport(report), history: run === undefined ? [] : readHistory(files.history, run.series) });
  let { html } = files;
  if (html !== undefined) writeFileAtomic(html, page());
  else if (report.outcome !== 'held' && report.claims.length > 0 && unasked(() => writeFileAtomic(files.htmlOnFailure, page())))
    html = files.htmlOnFailure;
  return { html, notes };
}
