import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_ROOT, RUN_VARIABLE, type RunConfig, toRunVariable } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { claimPattern } from '../claim-name.ts';
import { JSON_REPORT_SCHEMA, type JsonReport } from '../json-schema.ts';

const LINES_SHOWN = 20;

/**
 * The suite on a target, in a process of its own, which starts that target; gives its JSON report. Failed claims are no error here.
 *
 * Errors: `run-broken` with the last lines when nothing was judged, `interrupted`.
 */
export async function runSuite(config: RunConfig, claims: readonly string[], signal?: AbortSignal): Promise<JsonReport> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-upgrade-'));
  const json = join(folder, 'report.json');
  try {
    const child = spawn(
      process.execPath,
      [
        join(PACKAGE_ROOT, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--root', PACKAGE_ROOT, '--project', 'suites'],
        ...(claims.length === 0 ? [] : ['--testNamePattern', claimPattern(claims).source]),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, [RUN_VARIABLE]: toRunVariable({ ...config, json, junit: undefined }) } },
    );
    const lines: string[] = [];
    const keep = (chunk: string) => {
      lines.push(...chunk.split('\n').filter((line) => line.trim() !== ''));
      lines.splice(0, lines.length - LINES_SHOWN);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    const { promise, resolve, reject } = Promise.withResolvers<number | null>();
    child.on('error', reject);
    child.on('close', resolve);
    const interrupt = () => void child.kill('SIGINT');
    signal?.addEventListener('abort', interrupt, { once: true });
    const code = await promise.finally(() => signal?.removeEventListener('abort', interrupt));
    signal?.throwIfAborted();
    if (code === 0 || code === 1) return JSON_REPORT_SCHEMA.parse(JSON.parse(readFileSync(json, 'utf8')));
    throw new LockstepError('run-broken', `the suite ended with code ${code} and judged nothing`, {
      hint: 'Read its last lines; `npx lockstep check` with the same target repeats it.',
      context: { lines: lines.join('\n') },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
