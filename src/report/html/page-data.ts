import type { HistoryRun } from '../history.ts';
import type { JsonReport } from '../json-schema.ts';
import type { Upgrade } from '../upgrade/verdict.ts';

/** What a page is made of; it stands in the file as JSON. */
export type PageData = RunData | UpgradeData;

export interface RunData {
  readonly report: JsonReport;
  /** Earlier runs, oldest first, the run of the report last. */
  readonly history: readonly HistoryRun[];
}

export interface UpgradeData {
  readonly upgrade: UpgradeView;
}

/** An upgrade without the records of its sides, from which everything else was made. */
export type UpgradeView = Omit<Upgrade, 'from' | 'to'> & { readonly from: SideView; readonly to: SideView };

type SideView = Pick<Upgrade['from'], 'name' | 'recordedAt' | 'identity' | 'missing'> & {
  readonly counts: JsonReport['counts'] | undefined;
};
