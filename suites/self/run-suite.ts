import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Budget } from '#checks/lab/parts.ts';
import { lacking, structural } from '#checks/lab/outcome.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { PACKAGE_ROOT, type RunConfig, TINY_CHECKPOINT, defaultSettings, toRunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { profileOf } from '#core/profile/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { CLAIMS as agreement } from '../agreement/claims.ts';
import { CLAIMS as dangerous } from '../dangerous/claims.ts';
import { CLAIMS as determinism } from '../determinism/claims.ts';
import { CLAIMS as errors } from '../errors/claims.ts';
import { CLAIMS as goldens } from '../goldens/claims.ts';
import { CLAIMS as lifecycle } from '../lifecycle/claims.ts';
import { CLAIMS as metrics } from '../metrics/claims.ts';
import { CLAIMS as parameters } from '../parameters/claims.ts';
import { CLAIMS as protocol } from '../protocol/claims.ts';
import { CLAIMS as streaming } from '../streaming/claims.ts';
import type { EmbeddedOptions } from '#embedded/options.ts';
import { modelRepository } from '#targets/model-repository.ts';
import { startServer } from './start-server.ts';

/** Claims that take more than a tenth of a second of processor time per law with the small budget, cheapest first. */
const DEAR = [
  'seeded-sampling',
  'parameters-penalties',
  'parameters-draws',
  'greedy-spellings',
  'bls-is-ensemble',
  'stop-words-alike',
  'openai-stop-words',
  'ensemble-streams',
  'bls-streams',
  'bls-accumulate-streams',
  'generate-streams',
  'openai-completions-streams',
  'openai-chat-streams',
  'amid-neighbours',
  'near-ties-amid-neighbours',
  'cancel-while-queued',
  'cancel-ensemble',
  'cancel-bls',
  'close-generate-stream',
  'close-openai-stream',
  'repeated',
];

/** The ordinary suite: first what can break many laws in little time, last what takes long for one. */
export const ORDINARY_CLAIMS: readonly Claim[] = [
  ...metrics,
  ...agreement,
  ...streaming,
  ...lifecycle,
  ...goldens,
  ...errors,
  ...determinism,
  ...parameters,
  ...protocol,
  ...dangerous,
]
  .filter((c) => c.ordinaryOnly !== true)
  .toSorted((a, b) => DEAR.indexOf(a.id) - DEAR.indexOf(b.id));

/** The same plan as the ordinary run's, drawn by the same seed, with fewer cases of everything. */
export const SMALL: Budget = { scale: 0.2, propertyRuns: 3, longTokens: 200 };

/** Whole suites, some against servers that hang on purpose, three at a time on a machine that may have other work. */
export const RUN_DEADLINE_MS = 240_000;

/** A faulty server that hangs is found by this deadline, so it is short: the tiny model answers within milliseconds. */
const FAULTY_DEADLINE_MS = 2000;
/** One without a fault is to be right however busy the machine is. */
const SOUND_DEADLINE_MS = 20_000;

export interface SuiteRun {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly failures: readonly (Failure & { readonly claim: string })[];
}

export interface SuiteOptions {
  /** Ends the run, and what it has begun. */
  readonly signal: AbortSignal;
  /** All of the ordinary ones when absent. */
  readonly claims?: readonly Claim[];
  /** True once nothing more has to be run. */
  readonly enough?: (failures: SuiteRun['failures']) => boolean;
}

/** Runs the ordinary claims on an embedded server of their own. */
export async function runSuite(
  change: Partial<RunConfig> & Partial<Pick<EmbeddedOptions, 'repository'>>,
  { signal, claims = ORDINARY_CLAIMS, enough = () => false }: SuiteOptions,
): Promise<SuiteRun> {
  const {
    checkpoint = TINY_CHECKPOINT,
    repository = modelRepository(checkpoint, profileOf(change.profile ?? 'default').core),
    ...settings
  } = change;
  const config: RunConfig = { ...toRunConfig({ ...defaultSettings(), checkpoint }, PACKAGE_ROOT), ...settings };
  await using server = await startServer({ profile: config.profile, faults: config.faults, checkpoint, repository });
  await using made = await makeLab({
    config,
    endpoints: server.endpoints,
    identity: server.identity,
    health: server.health,
    budget: SMALL,
    deadlineMs: config.faults.length === 0 ? SOUND_DEADLINE_MS : FAULTY_DEADLINE_MS,
  });
  made.lab.signal = signal;
  const outcomes = new Map<string, Outcome>();
  const failures: (Failure & { claim: string })[] = [];
  for (const c of claims) {
    const outcome = await runClaim(() => c.run(made.lab));
    signal.throwIfAborted();
    outcomes.set(c.id, outcome);
    // What ended without a case may have ended with the server, whose process takes a moment to be gone.
    const { alive, detail } = await made.lab.healthSoon(outcome.n === 0 && outcome.failures.length > 0);
    const died = alive ? [] : [{ law: 'server-survives', code: 'server-died', text: detail }];
    failures.push(...[...died, ...outcome.failures].map((f) => ({ ...f, claim: `${c.suite}/${c.id}` })));
    if (enough(failures)) break;
  }
  return { outcomes, failures };
}

/** Errors that say something of the server. Any other, such as a mistake in a claim, breaks no law: it finds no fault. */
const LAW_OF_ERROR: Readonly<Record<string, string>> = {
  'no-answer': 'answers-at-all',
  deadline: 'answers-at-all',
  'server-died': 'server-survives',
};

/** What a claim throws is a failure of that claim, as in the ordinary run. */
async function runClaim(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (thrown) {
    const lacks = lacking(thrown);
    if (lacks !== undefined) return lacks;
    const { code, message } = LockstepError.from(thrown);
    return structural(0, '', [{ law: LAW_OF_ERROR[code] ?? '', code, text: message }]);
  }
}
