/** The audit as SARIF 2.1.0 (OASIS), which code hosts show beside the lines of a change. */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectVersion } from '#core/config/index.ts';
import { type Finding, KNOBS, LOADED_DIFFERS, type Knob } from '#targets/repository/index.ts';
import type { AuditReport } from './audit-report.ts';

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

export function auditSarif(report: AuditReport): string {
  const rules = [...KNOBS.filter(({ place }) => place !== 'environment' && place !== 'client'), LOADED_DIFFERS];
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'lockstep', semanticVersion: projectVersion(), rules: [...rules.map(rule), ...report.trials.map(trialRule)] },
        },
        columnKind: 'utf16CodeUnits',
        results: [
          ...report.findings.map((finding) => result(finding, report.shown)),
          ...report.trials.map(({ id, statement, verdict, n, detail }) => ({
            ruleId: id,
            kind: verdict === 'contradicted' ? 'fail' : verdict === 'not tried' ? 'notApplicable' : 'pass',
            level: verdict === 'contradicted' ? 'error' : 'none',
            message: {
              text: `${statement}: ${verdict}${verdict === 'not contradicted' ? ` in ${n}` : ''}${detail === '' ? '' : `; ${detail}`}`,
            },
          })),
        ],
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function rule(knob: Knob): object {
  return {
    id: knob.id,
    shortDescription: { text: `${plain(knob.setting)}: ${plain(knob.deterministic)}` },
    fullDescription: { text: `Another value can ${plain(knob.effect)}. Known from: ${plain(knob.known)}.` },
    help: { text: plain(knob.how) },
    defaultConfiguration: { level: knob.level },
  };
}

function trialRule({ id, statement }: AuditReport['trials'][number]): object {
  return { id, shortDescription: { text: statement } };
}

function result({ knob, level, model, found, where }: Finding, shown: (file: string) => string): object {
  const location =
    'file' in where
      ? { physicalLocation: { artifactLocation: { uri: uriOf(shown(where.file)) }, region: { startLine: where.line } } }
      : { logicalLocations: [{ fullyQualifiedName: where.url, kind: 'resource' }] };
  return {
    ruleId: knob.id,
    level,
    message: {
      text: `${model}: ${plain(knob.setting)} is ${found}; deterministic is ${plain(knob.deterministic)}. It can ${plain(knob.effect)}. ${plain(knob.how)}`,
    },
    locations: [location],
  };
}

function uriOf(path: string): string {
  return isAbsolute(path) ? pathToFileURL(path).href : path.split('/').map(encodeURIComponent).join('/');
}

const plain = (text: string): string => text.replaceAll('`', '');
