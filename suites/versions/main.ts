/**
 * The suite on real releases of tritonserver, with the same goldens: `npm run test:versions` asks a part of it, drawn by
 * LOCKSTEP_SEED, of four releases; LOCKSTEP_VERSIONS=all asks all of it of every release, and a list (`2.42,2.47`) of those.
 * What a release is not asked, or answers otherwise, is data in the profiles and tables; anything else fails.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nowNs } from '#core/clock/index.ts';
import { PACKAGE_ROOT, resolveSettings, VERSIONS_VARIABLE } from '#core/config/index.ts';
import { LockstepError, formatError } from '#core/errors/index.ts';
import type { JsonReport } from '#report/json-schema.ts';
import { layOutTriton } from '#targets/process/index.ts';
import { serverRelease, serverReleases } from '#targets/process/releases.ts';
import { drawnClaims } from '../self/drawn-claims.ts';
import { ORDINARY_CLAIMS } from '../self/run-suite.ts';

/** Where most changed: nothing of today yet, HTTP statuses, byte sizes, and the default release. */
const SAMPLED = ['2.36', '2.42', '2.47', '2.51'];
/** With four servers to start, as much as a minute and a half is enough for. */
const PART = 0.06;

interface Asked {
  readonly release: string;
  /** None: all of them. */
  readonly claims: readonly string[];
}

async function main(): Promise<void> {
  const text = process.env[VERSIONS_VARIABLE] ?? '';
  const { seed } = await resolveSettings({ command: 'check', env: process.env, cwd: process.cwd() });
  const asked: readonly Asked[] =
    text === ''
      ? SAMPLED.map((release) => ({ release, claims: sample(seed, release) }))
      : (text === 'all' ? serverReleases().map(({ version }) => version) : text.split(',')).map((release) => ({
          release,
          claims: [],
        }));
  for (const { release } of asked) serverRelease(release);
  // What is missing here is said before the first run, not behind the last.
  for (const { release } of asked) await layOutTriton({ version: release });
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-versions-'));
  const rows: string[] = [];
  const sum = { held: 0, failed: 0, notServed: 0, gapsMet: 0 };
  const begunNs = nowNs();
  try {
    for (const one of asked) {
      const report = await check(one, seed, folder);
      for (const key of ['held', 'failed', 'notServed', 'gapsMet'] as const) sum[key] += report.counts[key];
      const { held, failed, notServed, gapsMet } = report.counts;
      rows.push(
        `${(report.header?.identity['triton'] ?? one.release).padEnd(8)} ${held} held, ${failed} failed, ${notServed} not served, gaps met: ${gapsMet} · ${Math.round(report.durationMs / 1000)} s`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  out(['', ...rows, ''].join('\n'));
  out(
    `${asked.length} releases: ${sum.held} held, ${sum.failed} failed, ${sum.notServed} not served · known gaps met: ${sum.gapsMet} · seed ${seed}, ${Math.round((nowNs() - begunNs) / 1e9)} s`,
  );
}

/** Every release is asked other claims, so that a day's run looks at more of them. */
function sample(seed: number, release: string): readonly string[] {
  const claims = ORDINARY_CLAIMS.filter(({ suite }) => suite !== 'dangerous');
  return drawnClaims(claims, { seed, part: PART, label: `${release} ` });
}

/** Errors: `versions-run-broken` when a run could not be made. */
async function check({ release, claims }: Asked, seed: number, folder: string): Promise<JsonReport> {
  const json = join(folder, `${release}.json`);
  const args = ['check', ...claims, '--target', 'process', '--triton', release, '--seed', String(seed), '--json', json];
  const program = join(PACKAGE_ROOT, 'src/cli/main.js');
  const { [VERSIONS_VARIABLE]: _, ...env } = process.env;
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit', env });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject);
  child.on('exit', resolve);
  const code = await promise;
  if (code !== 0) process.exitCode = 1;
  if (code === 0 || code === 1) return JSON.parse(readFileSync(json, 'utf8')) as JsonReport;
  throw new LockstepError('versions-run-broken', `the run on tritonserver ${release} ended with code ${code} and judged nothing`, {
    hint: `Read what it said above; \`npx lockstep check --target process --triton ${release}\` repeats it.`,
  });
}

function out(text: string): void {
  process.stdout.write(`${text}\n`);
}

await main().catch((thrown: unknown) => {
  process.stderr.write(`${formatError(LockstepError.from(thrown))}\n`);
  process.exitCode = 2;
});
