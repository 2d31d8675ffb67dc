/** Claims as vitest tests on the run's target: what every file in suites/ ends with. */
import { afterAll } from 'vitest';
import { zeroDivergenceBound, clopperPearsonUpper } from '#core/stats/index.ts';
import { type Claim, type Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { startTarget } from '#targets/index.ts';
import { healthOf } from '#targets/alive.ts';
import { type ClaimOutcome, claim } from './claim.ts';
import type { ProvidedRun } from './provided.ts';

let shared: Promise<{ readonly lab: Lab } & AsyncDisposable> | undefined;

/** All suites of one worker share one lab, and with it what was already observed. */
function sharedLab(run: ProvidedRun): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  shared ??= makeLab({
    config: run.config,
    endpoints: run.endpoints,
    identity: run.header.identity,
    health: async () => healthOf(run.processes),
    restart: run.config.target === 'external' ? undefined : () => startAgain(run),
  });
  return shared;
}

async function startAgain(run: ProvidedRun): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  const target = await startTarget(run.config);
  try {
    const { lab, ...connection } = await makeLab({ config: run.config, endpoints: target.endpoints, identity: target.identity, health: () => target.health() });
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

export function defineClaims(claims: readonly Claim[]): void {
  for (const c of claims) {
    const { id, suite, statement, routes, laws, deadlineMs } = c;
    claim({ id, suite, statement, routes, laws, ...(deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }) }, async ({ provided }) => {
      const { lab } = await sharedLab(provided);
      const outcome = await c.run(lab);
      const health = await lab.parts.health();
      const died = health.alive ? [] : [{ law: 'server-survives', code: 'server-died', text: `after this claim ${health.detail}` }];
      return toClaimOutcome({ ...outcome, failures: [...died, ...outcome.failures] });
    });
  }
  afterAll(async () => {
    const done = shared;
    shared = undefined;
    await (await done)?.[Symbol.asyncDispose]();
  });
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

