/** Real runs for the page: one against a server with three defects, in which every kind of picture has something to show. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { JsonReport } from '#report/json-schema.ts';

const FAULTS = ['stream-cjk-replacement-char', 'batch-size-changes-greedy-logits', 'cancel-leaks-kv-blocks-disagg'];
const CLAIMS = ['ensemble-equals-raw', 'prompt-ids', 'near-ties', 'determinism/repeated', 'cancel-mid-decode', 'unload'];

/** The run of docs/report.md. */
export function failedRun(folder: string): { readonly report: JsonReport; readonly html: string; readonly text: string } {
  const json = join(folder, 'run.json');
  const faults = FAULTS.flatMap((fault) => ['--fault', fault]);
  const args = [
    'src/cli/main.js',
    'check',
    '--profile',
    'ideal',
    ...faults,
    ...CLAIMS,
    '--json',
    json,
    '--report',
    `html=${join(folder, 'run.html')}`,
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PACKAGE_ROOT, encoding: 'utf8', timeout: 120_000 });
  if (status !== 1) throw new Error(`the run ended with ${status}, not with failures\n${stdout}\n${stderr}`);
  return { report: JSON.parse(readFileSync(json, 'utf8')) as JsonReport, html: join(folder, 'run.html'), text: stdout };
}

/** So many claims, of those of a run; one in fifty fails. */
export function enlarged(report: JsonReport, claims: number): JsonReport {
  const failed = report.claims.filter(({ status }) => status === 'failed');
  const many = Array.from({ length: claims }, (_, i) => {
    const claim = (i % 50 === 0 ? failed[(i / 50) % failed.length] : report.claims[i % report.claims.length]) as Claim;
    return { ...(i % 50 === 0 ? claim : healed(claim)), id: `${claim.id}-${i}`, suite: `${claim.suite}-${i % 40}` };
  });
  const count = (status: string) => many.filter((claim) => claim.status === status).length;
  return {
    ...report,
    claims: many,
    counts: { ...report.counts, held: count('held'), failed: count('failed'), notServed: count('not-served') },
  };
}

type Claim = JsonReport['claims'][number];

function healed(claim: Claim): Claim {
  if (claim.status !== 'failed') return claim;
  return { ...claim, status: 'held', verdict: 'identical', failures: [], evidence: { ...claim.evidence, k: 0, notes: [] } };
}

/** Every text that a server could have sent, in a form that harms whoever takes it for markup, script or direction. */
export function hostile<T>(report: T): T {
  const bad =
    '</script><script>window.executed=1</script><img src=x onerror="window.executed=1"><!-- \u2028 \u202eevil \u0000\u001b[31m \ud800 ';
  const spoilt = (value: unknown): unknown => {
    if (typeof value === 'string') return bad + value;
    if (Array.isArray(value)) return value.map(spoilt);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, KEPT.includes(key) ? inner : spoilt(inner)]));
  };
  return spoilt(report) as T;
}

/** Words that Lockstep itself writes, and chooses by. */
const KEPT = ['outcome', 'status', 'verdict', 'startedAt', 'of', 'bytes', 'kind', 'at', 'recordedAt'];
