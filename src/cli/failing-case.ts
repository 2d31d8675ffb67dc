/** What `shrink` and `bundle` are given: a fixture, a failure of a report, or the claim that a replay command repeats. */
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { isFixtureFile, readFixture } from '#checks/recording/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { type FailingCase, failingCaseOf } from '#checks/shrink/index.ts';
import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';
import { runSuites } from './check.ts';

export interface Given {
  readonly failing: FailingCase;
  /** Absolute. */
  readonly fixture: string;
}

const HINT =
  'Give a .fixture file, a report of `check --json` with claim and number of the failure, or what stands behind `check` in a replay command.';

/** Errors: `failure-unknown`, those of fixtures, and those of the run that has to find the failure again. */
export async function givenCase(
  words: readonly string[],
  { config, cwd, signal }: { readonly config: RunConfig; readonly cwd: string; readonly signal: AbortSignal },
): Promise<Given> {
  const [first, second, third, ...rest] = words;
  if (first === undefined || rest.length > 0) throw unknown(`${words.length === 0 ? 'no' : 'more than one'} failing case is named`);
  const path = resolve(cwd, first);
  if (isFixtureFile(first) || first.endsWith('.part')) return fromFixture(path);
  if (first.endsWith('.json')) return fromReport(path, second, third ?? '1', cwd);
  const report = await runSuites(config, words, signal);
  if (signal.aborted) throw new LockstepError('interrupted', 'stopped by the user');
  const found = report?.claims.flatMap(({ claim }) => claim.failures.map((failure) => ({ failure, claim: `${claim.suite}/${claim.id}` })));
  if (found === undefined || found.length === 0) throw unknown(`${words.join(' ')} does not fail here`);
  const kept = found.find(({ failure }) => failure.fixture !== undefined);
  if (kept === undefined) throw unknown(`no failure of ${words.join(' ')} is about one exchange`);
  return fromFailure(kept.failure, kept.claim, resolve(kept.failure.fixture!));
}

async function fromFixture(path: string): Promise<Given> {
  return { failing: failingCaseOf(await readFixture(path), path), fixture: path };
}

async function fromFailure({ law, code, text }: Failure, claim: string, fixture: string): Promise<Given> {
  return { failing: failingCaseOf(await readFixture(fixture), fixture, { claim, law, code, text }), fixture };
}

/** `claim` is a part of `suite/claim`, `index` counts its failures from 1, as the terminal shows them. */
async function fromReport(path: string, claim: string | undefined, index: string, cwd: string): Promise<Given> {
  const shown = relative(cwd, path);
  if (!existsSync(path)) throw unknown(`there is no file ${shown}`);
  const parsed = parseJson(readFileSync(path));
  if (parsed.text === undefined) throw unknown(`${shown} is no JSON: ${parsed.problem}`);
  const { claims } = (parsed.value ?? {}) as {
    readonly claims?: readonly { readonly suite?: string; readonly id?: string; readonly failures?: readonly Failure[] }[];
  };
  if (!Array.isArray(claims)) throw unknown(`${shown} is no report of \`check --json\``);
  const failed = claims
    .filter(({ failures = [] }) => failures.length > 0)
    .map((one) => ({ name: `${one.suite}/${one.id}`, failures: one.failures ?? [] }));
  const meant = failed.filter(({ name }) => claim === undefined || name.includes(claim));
  if (meant.length !== 1) {
    const names = (meant.length === 0 ? failed : meant).map(({ name }) => name).join(', ');
    throw unknown(
      `${claim ?? shown} ${meant.length === 0 ? 'names no failed claim' : 'names several failed claims'}: ${names || 'none failed'}`,
    );
  }
  const [{ name, failures }] = meant as [(typeof meant)[number]];
  const failure = failures[Number(index) - 1];
  if (failure === undefined) throw unknown(`${name} has no failure ${index}, of ${failures.length}`);
  if (failure.fixture === undefined) throw unknown(`failure ${index} of ${name} has no fixture: it is not about one exchange`);
  return fromFailure(failure, name, resolve(cwd, failure.fixture));
}

function unknown(what: string): LockstepError {
  return new LockstepError('failure-unknown', what, { hint: HINT });
}
