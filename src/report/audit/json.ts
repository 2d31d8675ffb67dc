import { projectVersion } from '#core/config/index.ts';
import { type AuditReport, isClean } from './audit-report.ts';

/** The audit as data: `findings` with file and line or the address they were loaded from, `trials` with verdict and n. */
export function auditJson(report: AuditReport): string {
  const findings = report.findings.map(({ knob, level, model, found, where }) => ({
    knob: knob.id,
    level,
    model,
    setting: plain(knob.setting),
    found,
    deterministic: plain(knob.deterministic),
    effect: plain(knob.effect),
    how: plain(knob.how),
    known: plain(knob.known),
    ...('file' in where ? { file: report.shown(where.file), line: where.line } : { url: where.url }),
  }));
  const document = {
    lockstep: projectVersion(),
    outcome: isClean(report) ? 'held' : 'failed',
    read: report.read.map(report.shown),
    findings,
    trials: report.trials,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const plain = (text: string): string => text.replaceAll('`', '');
