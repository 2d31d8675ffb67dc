/** Runs the sample claims through a vitest of their own and keeps what it printed and reported; for tests. */
import { Writable } from 'node:stream';
import { createVitest } from 'vitest/node';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import LockstepReporter from './lockstep-reporter.ts';
import type { LockstepReporterOptions } from './lockstep-reporter.ts';
import type { RunReport } from './run-report.ts';

export interface SampleRun {
  readonly text: string;
  readonly report: RunReport;
}

export async function runSamples(
  options: LockstepReporterOptions & { readonly folder: string; readonly pattern?: RegExp },
): Promise<SampleRun> {
  const chunks: string[] = [];
  const sink = () => new Writable({ write: (chunk: Buffer, _encoding, done) => (chunks.push(String(chunk)), done()) });
  let report: RunReport | undefined;
  const suites = { name: 'suites', include: ['src/report/samples/claims.ts'], globalSetup: ['src/report/samples/set-up.ts'] };
  const unit = { name: 'unit', include: ['src/report/samples/units.ts'] };
  const vitest = await createVitest(
    {
      root: PACKAGE_ROOT,
      config: false,
      watch: false,
      run: true,
      reporters: [new LockstepReporter({ github: false, ...options, onReport: (finished) => (report = finished) })],
      projects: [{ test: suites }, { test: unit }],
      ...(options.pattern === undefined ? {} : { testNamePattern: options.pattern }),
    },
    {},
    { stdout: sink(), stderr: sink() },
  );
  const before = process.exitCode;
  try {
    await vitest.start();
  } finally {
    await vitest.close();
    process.exitCode = before;
  }
  if (report === undefined) throw new Error('the sample run gave no report');
  return { text: chunks.join(''), report };
}
