export { type AuditReport, isClean } from './audit-report.ts';
export { auditJson } from './json.ts';
export { auditSarif } from './sarif.ts';
export { renderAudit } from './terminal.ts';
