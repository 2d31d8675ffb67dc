import { UNSEEN_KNOBS } from '#targets/repository/index.ts';
import type { Canvas } from '../terminal/style.ts';
import { wrap } from '../terminal/wrap.ts';
import { type AuditReport, placeOfFinding } from './audit-report.ts';

/** The findings as a table of three lines each, then the trials, then what could not be seen, then the counts. */
export function renderAudit(report: AuditReport, { style, columns }: Canvas): string {
  const mark = { error: style.bad('error  '), warning: style.warn('warning'), note: style.dim('note   ') };
  const lines: string[] = [];
  for (const finding of report.findings) {
    const { knob, level, model, found } = finding;
    lines.push(`${mark[level]} ${style.bold(model)} ${plain(knob.setting)}: ${found}  ${style.dim(placeOfFinding(finding, report.shown))}`);
    lines.push(
      ...wrapped(`deterministic: ${plain(knob.deterministic)}. It can ${plain(knob.effect)}. Known from: ${plain(knob.known)}.`, columns),
    );
    lines.push(...wrapped(`next: ${plain(knob.how)}`, columns).map((line) => style.dim(line)));
  }
  if (report.trials.length > 0) {
    lines.push('', style.bold('put to the test'));
    for (const { statement, verdict, n, detail } of report.trials) {
      const word =
        verdict === 'contradicted'
          ? style.bad('contradicted')
          : verdict === 'not tried'
            ? style.dim('not tried')
            : style.good(`not contradicted in ${n}`);
      lines.push(`${statement}: ${word}${detail === '' ? '' : `  ${detail}`}`);
    }
  }
  const count = (level: string) => report.findings.filter((one) => one.level === level).length;
  const contradicted = report.trials.filter(({ verdict }) => verdict === 'contradicted').length;
  const unseen = UNSEEN_KNOBS.map(({ setting }) => plain(setting)).join(', ');
  const [errors, warnings, notes] = [count('error'), count('warning'), count('note')];
  const summary = [
    counted(errors, 'error'),
    counted(warnings, 'warning'),
    counted(notes, 'note'),
    ...(report.trials.length > 0 ? [`${contradicted} of ${report.trials.length} statements contradicted`] : []),
    `${report.read.length} read`,
  ].join(' · ');
  lines.push(
    '',
    ...wrapped(`not seen from here: ${unseen}`, columns, '').map((line) => style.dim(line)),
    errors + warnings + contradicted > 0 ? style.bad(`audit: ${summary}`) : style.good(`audit: ${summary}`),
  );
  return lines.join('\n');
}

const counted = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
const plain = (text: string): string => text.replaceAll('`', '');

function wrapped(text: string, columns: number, indent = '        '): readonly string[] {
  return wrap(text, Math.max(columns, 60) - indent.length).map((line) => indent + line);
}
