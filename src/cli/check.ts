/** `lockstep check`: the claims, through vitest, with the project's own reporter. */
import { isAbsolute } from 'node:path';
import { createVitest } from 'vitest/node';
import {
  MODEL_REPOSITORY,
  PACKAGE_ROOT,
  resolveSettings,
  RUN_VARIABLE,
  TINY_CHECKPOINT,
  toRunConfig,
  toRunVariable,
} from '#core/config/index.ts';
import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable } from '#core/files/index.ts';
import type { RunReport } from '#report/index.ts';
import { claimKey, claimPattern, LockstepReporter } from '#report/index.ts';
import { quoted } from '#checks/lab/replay-command.ts';
import { mpirunCommand, STOCK_PROGRAM } from '#targets/process/mpirun.ts';
import { describeJob } from '#targets/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { refuseFaults } from './faults.ts';

const PROJECT = 'suites';
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export async function check(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal } = context;
  const settings = await resolveSettings({ command: 'check', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd);
  if (settings.dryRun) {
    if (config.target === 'slurm') {
      context.terminal.out(await describeJob(config, { signal }));
      return EXIT.held;
    }
    const { repository = MODEL_REPOSITORY, triton, worldSize } = config;
    const program = triton !== undefined && isAbsolute(triton) ? triton : STOCK_PROGRAM;
    context.terminal.out(mpirunCommand({ worldSize, program, repository }).map(quoted).join(' '));
    return EXIT.held;
  }
  await refuseFaults(config.faults, config.profile, config.checkpoint ?? TINY_CHECKPOINT);
  for (const path of [config.json, config.junit, config.html]) if (path !== undefined) assertWritable(path);
  const report = await runSuites(config, flags.positionals, signal);
  if (signal.aborted || report?.outcome === 'interrupted') return EXIT.interrupted;
  if (report === undefined) throw new LockstepError('run-broken', 'the run ended without a report');
  if (report.claims.length === 0 && report.errors.length === 0) throw nothingRan(flags.positionals);
  if (report.outcome === 'held') return EXIT.held;
  return report.outcome === 'failed' ? EXIT.failed : EXIT.impossible;
}

/** Vitest writes into the checkout before it runs anything. */
function notPrepared(thrown: unknown): LockstepError {
  return new LockstepError(
    'run-broken',
    `the run could not be prepared: ${LockstepError.from(thrown).message.replace('[internal] ', '')}`,
    {
      hint: `Look whether ${PACKAGE_ROOT} and its .cache can be written by this user.`,
      cause: thrown,
    },
  );
}

/** Errors: whatever the global set-up throws (`target-unreachable` and the like). */
export async function runSuites(config: RunConfig, filters: readonly string[], signal: AbortSignal): Promise<RunReport | undefined> {
  process.env[RUN_VARIABLE] = toRunVariable(config);
  let report: RunReport | undefined;
  const reporter = new LockstepReporter({ onReport: (finished) => (report = finished) });
  const own = SIGNALS.map((name) => process.listeners(name));
  const vitest = await createVitest({
    root: PACKAGE_ROOT,
    project: [PROJECT],
    watch: false,
    run: true,
    reporters: [reporter],
    configLoader: 'native',
    ...(filters.length > 0 ? { testNamePattern: claimPattern(filters) } : {}),
  }).catch((thrown: unknown) => {
    throw notPrepared(thrown);
  });
  // Vitest's own listeners end the process within a millisecond; ours let the running claims stop and be reported.
  SIGNALS.forEach((name, i) => {
    for (const listener of process.listeners(name)) if (!own[i]?.includes(listener)) process.off(name, listener);
  });
  // It rejects with what `start` rejects with.
  const cancel = () => void vitest.cancelCurrentRun('keyboard-input').catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    await vitest.start();
  } catch (thrown) {
    throw revive(thrown);
  } finally {
    signal.removeEventListener('abort', cancel);
    await vitest.close();
  }
  return report;
}

/** The global set-up is loaded by vitest's own module runner, so its LockstepError is of another class with equal fields. */
function revive(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  if (thrown.name !== 'LockstepError') {
    return thrown.constructor.name === 'FilesNotFoundError'
      ? new LockstepError('no-claims', 'there are no claims in suites/', { hint: 'Run from a complete checkout.' })
      : thrown;
  }
  const { code, message, hint, context, cause } = thrown as LockstepError;
  return new LockstepError(code, message.replace(`[${code}] `, ''), { ...(hint === undefined ? {} : { hint }), context, cause });
}

function nothingRan(filters: readonly string[]): LockstepError {
  return new LockstepError('no-claims', filters.length > 0 ? `no claim matches ${filters.join(' or ')}` : 'no claim ran', {
    hint: `A filter is a part of a claim's key, such as ${claimKey('agreement', 'ensemble')}; \`lockstep check\` alone lists all of them as it runs.`,
  });
}
