/** `npm run docs:clients`: writes the tables of docs/clients.md from the report of a full run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { ClaimResult } from '#checks/lab/result.ts';

const PAGE = join(PACKAGE_ROOT, 'docs/clients.md');
const FROM = '<!-- what follows is made by npm run docs:clients -->';
const TO = '<!-- until here -->';

interface Report {
  readonly header: { readonly identity: Readonly<Record<string, string>> };
  readonly claims: readonly ClaimResult[];
}

/** Claims by the beginning of their ids. */
const CLIENTS: readonly (readonly [name: string, prefix: string])[] = [
  ['tritonclient.grpc', 'triton-grpc-'],
  ['tritonclient.grpc.aio', 'triton-aio-'],
  ['tritonclient.http', 'triton-http-'],
  ['requests (generate)', 'requests-'],
  ['openai for Python', 'openai-python-'],
  ['openai for Node', 'openai-node-'],
  ['perf_analyzer', 'perf-analyzer-'],
  ['genai-perf', 'genai-perf-'],
  ['aiperf', 'aiperf-'],
];

const [path = ''] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
const page = readFileSync(PAGE, 'utf8');
const from = page.indexOf(FROM);
const to = page.indexOf(TO);
if (from < 0 || to < from) throw new LockstepError('page-unmarked', `${PAGE} has lost the marks between which the tables stand`);
writeFileAtomic(PAGE, `${page.slice(0, from)}${FROM}\n\n${tables(report)}\n${page.slice(to)}`);

function tables({ claims, header }: Report): string {
  const { server, triton, frontend } = header.identity;
  const parts = CLIENTS.flatMap(([name, prefix]) => {
    const own = claims.filter((c) => c.id.startsWith(prefix));
    const rows = own.filter((c) => !c.laws.includes('faults-are-found'));
    const controls = own.filter((c) => c.laws.includes('faults-are-found'));
    return [
      `### ${name}`,
      '',
      '| claim | laws | judged | known gaps met | the client itself says |',
      '|---|---|---|---|---|',
      ...rows.map((c) => `| ${[`\`${c.id}\``, lawsOf(c), judgedOf(c), gapsOf(c), c.evidence.notes.join('; ')].join(' | ')} |`),
      '',
      `Seen in its records, each by the law behind it: ${controls.map(controlOf).join(' · ')}.`,
      '',
    ];
  });
  return [`From a full run on ${server} (triton ${triton}, front end ${frontend}).`, '', ...parts].join('\n');
}

function lawsOf(c: ClaimResult): string {
  return c.laws.join(', ');
}

function judgedOf({ evidence: { n, k, unit }, status }: ClaimResult): string {
  return `${status === 'held' ? '' : `**${status}** `}${n - k} of ${n} ${unit}`;
}

function gapsOf(c: ClaimResult): string {
  return c.gaps.map((g) => `${g.id} ${g.met} ×`).join(', ');
}

/** `triton-grpc-cancel-sees-<fault>`, whose statement ends with the law. */
function controlOf(c: ClaimResult): string {
  const fault = c.id.split('-sees-')[1] ?? c.id;
  const law = /breaks (\S+)\.$/.exec(c.statement)?.[1] ?? '';
  return `${fault} (${law})${c.status === 'held' ? '' : ' **not seen**'}`;
}
