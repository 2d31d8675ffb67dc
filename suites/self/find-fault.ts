import type { Outcome } from '#checks/lab/claim.ts';
import { structural } from '#checks/lab/outcome.ts';
import { FAULTS_VARIABLE, SPM_CHECKPOINT, TINY_CHECKPOINT, resolveSettings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { rngFrom } from '#core/seed/index.ts';
import { FAULTS, type Fault } from '#embedded/faults/index.ts';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { RUN_DEADLINE_MS, ORDINARY_CLAIMS, runSuite } from './run-suite.ts';

/** Test files among which the faults are dealt out, so that no worker is left alone with the long ones. */
const SHARES = 6;

const asked = process.env[FAULTS_VARIABLE] ?? '';
/** `npm run test:faults` (all of it) and `npm run test:faults:sample` (a part of it), not `npm test`. */
export const THOROUGH = asked !== '';
const part = asked === 'all' ? 1 : Number(asked);
if (THOROUGH && !(part > 0 && part <= 1)) {
  throw new LockstepError('value-invalid', `${FAULTS_VARIABLE} must be all, or a part such as 0.4; got “${asked}”`, {
    hint: 'Leave it out for what npm test does.',
  });
}

const { seed } = await resolveSettings({ command: 'check', env: process.env, cwd: process.cwd() });

/** All of them, or the part that this run is asked for, drawn by its seed. */
export function drawn<T>(items: readonly T[], label: string): readonly T[] {
  return part === 1
    ? items
    : rngFrom(seed, label)
        .shuffle(items)
        .slice(0, Math.ceil(items.length * part));
}

/** As many as there is time for. */
const FEW = 6;

/**
 * The faults to look for: with `npm test`, which is to take less than a minute, six, each of another class, drawn by the seed
 * of the run, and there the claims that speak of its law come first; all of them, by the suite in its ordinary order, with
 * `npm run test:faults`.
 */
const CHOSEN: readonly Fault[] = THOROUGH
  ? drawn(FAULTS, 'faults')
  : [...Map.groupBy(rngFrom(seed, 'faults').shuffle(FAULTS), (fault) => fault.class).values()]
      .flatMap(([first]) => first ?? [])
      .slice(0, FEW);

/** One claim per fault: the ordinary suite fails on a server that has it, by a law that names it. */
export function findFaults(share: 1 | 2 | 3 | 4 | 5 | 6): void {
  for (const fault of CHOSEN.filter((_, i) => i % SHARES === share - 1)) {
    claim(
      {
        id: `finds-${fault.id}`,
        suite: 'self',
        statement: `The suite finds a server where this is broken: ${fault.mechanism}`,
        routes: [],
        laws: fault.caughtBy,
        timeoutMs: RUN_DEADLINE_MS,
      },
      async ({ signal }) => toClaimOutcome(await find(fault, signal)),
    );
  }
}

async function find(fault: Fault, signal: AbortSignal): Promise<Outcome> {
  const [law] = fault.caughtBy;
  const named = (f: { readonly law: string; readonly code: string }) => f.law === law && f.code !== 'not-exercised';
  const claims = THOROUGH ? ORDINARY_CLAIMS : ORDINARY_CLAIMS.toSorted((a, b) => +b.laws.includes(law) - +a.laws.includes(law));
  const { outcomes, failures } = await runSuite(
    {
      faults: [fault.id],
      profile: fault.profile ?? 'default',
      checkpoint: fault.checkpoint === undefined ? TINY_CHECKPOINT : SPM_CHECKPOINT,
    },
    { signal, claims, enough: (found) => found.some(named) },
  );
  const hit = failures.find(named);
  if (hit !== undefined) return structural(outcomes.size, 'claims run', [], { notes: [`by ${hit.law} in ${hit.claim}`] });
  const others = [...new Set(failures.map((f) => `${f.law} in ${f.claim}`))];
  const text = others.length === 0 ? `nothing failed in ${outcomes.size} claims` : `other laws failed: ${others.join(', ')}`;
  return structural(outcomes.size, 'claims run', [
    { law: 'faults-are-found', code: 'not-named', text: `expected ${law} to fail; ${text}` },
  ]);
}
