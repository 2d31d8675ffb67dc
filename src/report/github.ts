/** Workflow commands that GitHub Actions shows as annotations: one error per failed claim, one warning per identity. */
import { claimKey } from './claim-name.ts';
import type { RunReport } from './run-report.ts';
import { renderFailedClaim } from './terminal/failure.ts';
import { PLAIN } from './terminal/style.ts';

export function renderGithub(report: RunReport): string {
  const lines: string[] = [];
  for (const { claim, file } of report.claims) {
    if (claim.status !== 'failed') continue;
    lines.push(
      command('error', { file, title: claimKey(claim.suite, claim.id) }, renderFailedClaim(claim, { style: PLAIN, columns: 100 })),
    );
  }
  for (const unit of report.units) {
    for (const failure of unit.failures) lines.push(command('error', { file: failure.file, title: failure.name }, failure.message));
  }
  for (const error of report.errors) lines.push(command('error', { title: 'error outside of tests' }, error));
  if (report.identityDifferences.length > 0) {
    const rows = report.identityDifferences.map((one) => `${one.key}: ${one.golden} → ${one.target}`);
    lines.push(command('warning', { title: 'the goldens were recorded on another identity' }, rows.join('\n')));
  }
  return lines.join('\n');
}

function command(kind: 'error' | 'warning', properties: Readonly<Record<string, string>>, message: string): string {
  const list = Object.entries(properties).map(([key, value]) => `${key}=${escape(value).replaceAll(':', '%3A').replaceAll(',', '%2C')}`);
  return `::${kind} ${list.join(',')}::${escape(message)}`;
}

function escape(value: string): string {
  return value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
