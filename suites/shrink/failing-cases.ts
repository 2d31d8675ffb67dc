/** Failing cases as the ordinary suite finds them, on embedded servers with a fault. */
import { readFixture } from '#checks/recording/index.ts';
import type { Outcome } from '#checks/lab/claim.ts';
import { ofError, withFixtures } from '#checks/lab/fixtures.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import type { Failure } from '#checks/lab/result.ts';
import { type FailingCase, type Bench, failingCaseOf } from '#checks/shrink/index.ts';
import { PACKAGE_ROOT, type RunConfig, SPM_CHECKPOINT, TINY_CHECKPOINT, defaultSettings, toRunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { profileOf } from '#core/profile/index.ts';
import { FAULTS, type Fault } from '#embedded/faults/index.ts';
import { modelRepository } from '#targets/model-repository.ts';
import { ORDINARY_CLAIMS, SMALL } from '../self/run-suite.ts';
import { startServer } from '../self/start-server.ts';

/** A server that hangs is found by this deadline: the tiny model answers within milliseconds. */
const FAULTY_DEADLINE_MS = 2000;

export interface Found {
  readonly fault: Fault;
  readonly failure: Failure;
  readonly fixture: string;
  readonly failing: FailingCase;
}

export function faultOf(id: string): Fault {
  const fault = FAULTS.find((one) => one.id === id);
  if (fault === undefined) throw new LockstepError('fault-unknown', `there is no fault ${id}`);
  return fault;
}

export function configOf(fault: Fault, faults: readonly string[]): RunConfig {
  const checkpoint = fault.checkpoint === undefined ? TINY_CHECKPOINT : SPM_CHECKPOINT;
  const settings = toRunConfig({ ...defaultSettings(), checkpoint }, PACKAGE_ROOT);
  return { ...settings, faults, profile: fault.profile ?? 'default' };
}

/** An embedded server, and the lab on it. */
export async function serverFor(config: RunConfig, fixtures: string | undefined): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  const { checkpoint = TINY_CHECKPOINT, profile, faults } = config;
  const server = await startServer({ profile, faults, checkpoint, repository: modelRepository(checkpoint, profileOf(profile).core) });
  const { endpoints, identity, health } = server;
  const made = await makeLab({
    config,
    endpoints,
    identity,
    health,
    budget: SMALL,
    deadlineMs: FAULTY_DEADLINE_MS,
    ...(fixtures === undefined ? {} : { fixtures }),
  });
  return {
    lab: made.lab,
    [Symbol.asyncDispose]: async () => {
      await made[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A server on which cases are tried, and its successors. */
export async function benchFor(config: RunConfig): Promise<Bench & AsyncDisposable> {
  let server = await serverFor(config, undefined);
  return {
    lab: server.lab,
    renew: async () => {
      await server[Symbol.asyncDispose]();
      server = await serverFor(config, undefined);
      return server.lab;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** What a claim throws is a failure of that claim, as in the ordinary run. */
function died(thrown: unknown): Pick<Outcome, 'failures'> {
  const { code, message } = LockstepError.from(thrown);
  return { failures: code === 'server-died' ? [ofError({ law: 'server-survives', code, text: message }, thrown)] : [] };
}

/** The first failure that names the fault's law and has a fixture; claims that speak of that law come first. */
export async function findFailing(fault: Fault, folder: string, signal: AbortSignal): Promise<Found> {
  const [law] = fault.caughtBy;
  const claims = ORDINARY_CLAIMS.toSorted((a, b) => +b.laws.includes(law) - +a.laws.includes(law));
  await using server = await serverFor(configOf(fault, [fault.id]), folder);
  server.lab.signal = signal;
  for (const claim of claims) {
    const outcome = await claim.run(server.lab).catch(died);
    signal.throwIfAborted();
    const named = withFixtures(server.lab, claim, outcome.failures).filter((f) => f.law === law && f.fixture !== undefined);
    const [failure] = named;
    if (failure?.fixture === undefined) continue;
    const { code, text, fixture } = failure;
    const violation = { claim: `${claim.suite}/${claim.id}`, law, code, text };
    return { fault, failure, fixture, failing: failingCaseOf(await readFixture(fixture), fixture, violation) };
  }
  throw new LockstepError('no-failing-case', `the suite found no exchange that breaks ${law} on a server with ${fault.id}`);
}
