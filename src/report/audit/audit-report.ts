/** Everything that `lockstep audit` has to say, before it is written in any form. */
import type { Finding, Trial } from '#targets/repository/index.ts';

export interface AuditReport {
  /** Files and addresses that were read. */
  readonly read: readonly string[];
  readonly findings: readonly Finding[];
  /** Empty where no server was asked. */
  readonly trials: readonly Trial[];
  /** How a file is called in reports: relative to the working directory where it is inside. */
  readonly shown: (file: string) => string;
}

/** A note is no finding: nothing is wrong, and it must stay as it is. */
export function isClean({ findings, trials }: Pick<AuditReport, 'findings' | 'trials'>): boolean {
  return findings.every(({ level }) => level === 'note') && trials.every(({ verdict }) => verdict !== 'contradicted');
}

export function placeOfFinding({ where }: Finding, shown: (file: string) => string): string {
  return 'file' in where ? `${shown(where.file)}:${where.line}` : where.url;
}
