/** Claims as vitest tests on the run's target: what every file in suites/ ends with. */
import { afterAll } from 'vitest';
import { zeroDivergenceBound, clopperPearsonUpper } from '#core/stats/index.ts';
import { type Claim, type Outcome } from '#checks/lab/claim.ts';
import { droppedExchanges, ofError, withFixtures } from '#checks/lab/fixtures.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { lacking, notServed, structural } from '#checks/lab/outcome.ts';
import { LOST_STREAM_END } from '#checks/laws/index.ts';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { askHealth } from '#targets/external/index.ts';
import { askOpenAiHealth } from '#targets/openai/index.ts';
import { type Health, startTarget } from '#targets/index.ts';
import { healthOf } from '#targets/alive.ts';
import { type ClaimOutcome, claim } from './claim.ts';
import type { ProvidedRun } from './provided.ts';
import { NOT_RUN } from '#checks/lab/result.ts';

let shared: Promise<{ readonly lab: Lab } & AsyncDisposable> | undefined;

/** The claims of one file share one lab, and with it what was already observed. */
function sharedLab(run: ProvidedRun): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  if (shared !== undefined) return shared;
  const made = makeLab({
    config: run.config,
    endpoints: run.endpoints,
    identity: run.header.identity,
    fixtures: run.fixtures,
    health: () => healthOfTarget(run),
    restart:
      run.config.target === 'external' || run.config.target === 'openai' ? undefined : async () => startAgain(run, (await made).lab.signal),
  });
  shared = made;
  return made;
}

/** By the processes where this run started them, by asking where it did not. */
async function healthOfTarget(run: ProvidedRun): Promise<Health> {
  if (run.processes.length > 0) return healthOf(run.processes);
  return run.endpoints.grpc === '' ? askOpenAiHealth(run.endpoints) : askHealth(run.endpoints);
}

async function startAgain(run: ProvidedRun, signal: AbortSignal | undefined): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  const target = await startTarget(run.config, { signal });
  try {
    const { lab, ...connection } = await makeLab({
      config: run.config,
      endpoints: target.endpoints,
      identity: target.identity,
      health: () => target.health(),
      fixtures: run.fixtures,
    });
    lab.signal = signal;
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

/** What it remembers may be cut short, and closing its connections ends what the claim still has under way. */
function dropLab(): void {
  const dropped = shared;
  shared = undefined;
  dropped?.then((made) => made[Symbol.asyncDispose]()).catch(() => undefined);
}

/** The claim that runs, or that was cut off and has not ended yet: the next one is to have the server to itself. */
let running: Promise<unknown> = Promise.resolve();
const CUT_OFF_ENDS_WITHIN_MS = 5_000;

/** How the server died, once it has: the claims after that are not run, since each could only say so again. */
let death: string | undefined;

export function defineClaims(claims: readonly Claim[]): void {
  for (const c of claims) {
    const { id, suite, statement, routes, laws, deadlineMs } = c;
    claim(
      { id, suite, statement, routes, laws, ...(deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }) },
      async ({ provided, signal }) => {
        const before = running;
        await withDeadline({ ms: CUT_OFF_ENDS_WITHIN_MS, what: 'the claim before to end', signal }, () => before).catch(() => undefined);
        signal.throwIfAborted();
        if (death !== undefined) return toClaimOutcome(notRun(death));
        const run = runOn(provided, c, signal);
        running = run;
        return toClaimOutcome(await run);
      },
    );
  }
  afterAll(async () => {
    const done = shared;
    shared = undefined;
    // A lab that could not be made has failed its claim already.
    const made = await done?.catch(() => undefined);
    await made?.[Symbol.asyncDispose]();
  });
}

async function runOn(provided: ProvidedRun, c: Claim, signal: AbortSignal): Promise<Outcome> {
  signal.addEventListener('abort', dropLab);
  try {
    const { lab } = await sharedLab(provided);
    lab.signal = signal;
    const lost = lab.parts.lostEnds?.count ?? 0;
    const outcome = withLostEnds(keptExchanges(lab, c, await c.run(lab)), (lab.parts.lostEnds?.count ?? 0) - lost);
    signal.throwIfAborted();
    const health = await lab.parts.health();
    if (health.alive)
      return provided.config.only !== undefined && outcome.n === 0 && outcome.failures.length === 0
        ? notServed(`no case of ${provided.config.only} applies`)
        : outcome;
    death = health.detail;
    // Whoever saw it die says after which request.
    if (outcome.failures.some((f) => f.law === 'server-survives')) return outcome;
    return {
      ...outcome,
      failures: [
        { law: 'server-survives', code: 'server-died', text: `the server died during this claim: ${health.detail}` },
        ...outcome.failures,
      ],
    };
  } catch (thrown) {
    signal.throwIfAborted();
    const health = await healthOfTarget(provided);
    const lacks = lacking(thrown);
    if (health.alive && lacks !== undefined) return lacks;
    if (health.alive) throw thrown;
    death = health.detail;
    const text =
      thrown instanceof LockstepError && thrown.code === 'server-died' ? thrown.message.replace('[server-died] ', '') : health.detail;
    const died = { law: 'server-survives', code: 'server-died', text: `the server died during this claim: ${text}` };
    const { lab } = await sharedLab(provided);
    return keptExchanges(lab, c, structural(0, '', [ofError(died, thrown)]));
  } finally {
    signal.removeEventListener('abort', dropLab);
  }
}

/** A disk that is full makes no claim fail. */
function keptExchanges(lab: Lab, c: Claim, outcome: Outcome): Outcome {
  try {
    const dropped = droppedExchanges(outcome.failures);
    const note = `${dropped} exchanges of failing cases were too large to be kept until they were judged`;
    const notes = [...(outcome.notes ?? []), ...(dropped > 0 ? [note] : [])];
    return { ...outcome, notes, failures: withFixtures(lab, c, outcome.failures) };
  } catch (thrown) {
    return { ...outcome, notes: [...(outcome.notes ?? []), `no fixture was written: ${LockstepError.from(thrown).message}`] };
  }
}

/** What the transport met beside what the claim looked for. */
function withLostEnds(outcome: Outcome, met: number): Outcome {
  if (met === 0 || outcome.notServed !== undefined) return outcome;
  const { id, law, thread } = LOST_STREAM_END;
  return { ...outcome, gaps: [...(outcome.gaps ?? []), { id, law, thread, met }] };
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
    cases: o.cases,
    notServed: o.notServed,
  };
}
