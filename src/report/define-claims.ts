/** Claims as vitest tests on the run's target: what every file in suites/ ends with. */
import { afterAll } from 'vitest';
import { zeroDivergenceBound, clopperPearsonUpper } from '#core/stats/index.ts';
import { type Claim, type Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { LockstepError } from '#core/errors/index.ts';
import { askHealth } from '#targets/external/index.ts';
import { type Health, startTarget } from '#targets/index.ts';
import { healthOf } from '#targets/alive.ts';
import { type ClaimOutcome, claim } from './claim.ts';
import type { ProvidedRun } from './provided.ts';
import { NOT_RUN } from '#checks/lab/result.ts';

let shared: Promise<{ readonly lab: Lab } & AsyncDisposable> | undefined;

/** All suites of one worker share one lab, and with it what was already observed. */
function sharedLab(run: ProvidedRun): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  shared ??= makeLab({
    config: run.config,
    endpoints: run.endpoints,
    identity: run.header.identity,
    health: () => healthOfTarget(run),
    restart: run.config.target === 'external' ? undefined : () => startAgain(run),
  });
  return shared;
}

/** By the processes where this run started them, by asking where it did not. */
async function healthOfTarget(run: ProvidedRun): Promise<Health> {
  return run.processes.length > 0 ? healthOf(run.processes) : askHealth(run.endpoints);
}

async function startAgain(run: ProvidedRun): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  const target = await startTarget(run.config);
  try {
    const { lab, ...connection } = await makeLab({
      config: run.config,
      endpoints: target.endpoints,
      identity: target.identity,
      health: () => target.health(),
    });
    return {
      lab,
      [Symbol.asyncDispose]: async () => {
        await connection[Symbol.asyncDispose]();
        await target.stop();
      },
    };
  } catch (thrown) {
    await target.stop();
    throw thrown;
  }
}

/** How the server died, once it has: the claims after that are not run, since each could only say so again. */
let death: string | undefined;

export function defineClaims(claims: readonly Claim[]): void {
  for (const c of claims) {
    const { id, suite, statement, routes, laws, deadlineMs } = c;
    claim({ id, suite, statement, routes, laws, ...(deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }) }, async ({ provided }) => {
      if (death !== undefined) return toClaimOutcome(notRun(death));
      return toClaimOutcome(await runOn(provided, c));
    });
  }
  afterAll(async () => {
    const done = shared;
    shared = undefined;
    // A lab that could not be made has failed its claim already.
    const made = await done?.catch(() => undefined);
    await made?.[Symbol.asyncDispose]();
  });
}

async function runOn(provided: ProvidedRun, c: Claim): Promise<Outcome> {
  try {
    const { lab } = await sharedLab(provided);
    const outcome = await c.run(lab);
    const health = await lab.parts.health();
    if (health.alive)
      return provided.config.only !== undefined && outcome.n === 0 && outcome.failures.length === 0
        ? notServed(`no case of ${provided.config.only} applies`)
        : outcome;
    death = health.detail;
    return {
      ...outcome,
      failures: [
        { law: 'server-survives', code: 'server-died', text: `the server died during this claim: ${health.detail}` },
        ...outcome.failures,
      ],
    };
  } catch (thrown) {
    const health = await healthOfTarget(provided);
    if (health.alive) throw thrown;
    death = health.detail;
    const text =
      thrown instanceof LockstepError && thrown.code === 'server-died' ? thrown.message.replace('[server-died] ', '') : health.detail;
    return structural(0, '', [{ law: 'server-survives', code: 'server-died', text: `the server died during this claim: ${text}` }]);
  }
}

function notRun(detail: string): Outcome {
  return structural(0, '', [{ law: 'server-survives', code: NOT_RUN, text: `not run, the server is dead: ${detail}` }]);
}

/** Adds the 95 % bound, where a rate was counted. */
export function toClaimOutcome(o: Outcome): ClaimOutcome {
  const bound = o.rate && o.n > 0 ? (o.k === 0 ? zeroDivergenceBound(o.n) : clopperPearsonUpper(o.k, o.n)) : undefined;
  return {
    evidence: { n: o.n, k: o.k, bound, unit: o.unit, notes: o.notes ?? [] },
    failures: o.failures,
    verdict: o.verdict,
    gaps: o.gaps ?? [],
    gapsGone: o.gapsGone ?? [],
    notServed: o.notServed,
  };
}
