import type { JsonReport } from '../json-schema.ts';
import type { HistoryRun } from '../history.ts';

/** What the page is made of; it stands in the file as JSON. */
export interface PageData {
  readonly report: JsonReport;
  /** Earlier runs, oldest first, the run of the report last. */
  readonly history: readonly HistoryRun[];
}
