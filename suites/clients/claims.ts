import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { judged } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import type { Failure } from '#checks/lab/result.ts';
import { law } from '#checks/laws/index.ts';
import { CLIENTS_VARIABLE, MODEL_REPOSITORY, PACKAGE_ROOT, defaultSettings, resolveSettings, toRunConfig } from '#core/config/index.ts';
import { rngFrom } from '#core/seed/index.ts';
import { startServer } from '../self/start-server.ts';
import { unaryRepository } from '#targets/process/unary-repository.ts';
import type { Use } from './use.ts';

/** `npm run test:full`: every use, and a negative control for each. */
const FULL = process.env[CLIENTS_VARIABLE] === 'all';

const { seed } = await resolveSettings({ command: 'check', env: process.env, cwd: process.cwd() });

/** Until an environment of Python packages is laid out, which the first run does. */
const DEADLINE_MS = 600_000;

/** What the client recorded, held to the laws. */
async function judgedUse(use: Use, lab: Lab): Promise<Outcome> {
  const { cases, failures = [], notes = [] } = await use.run(lab);
  const outcome = judged(lab, use.id, cases, use.laws.map(law), 'answers judged', { notes });
  return { ...outcome, failures: [...failures, ...outcome.failures].map(repeatedByName(use.id)) };
}

/** These claims are no part of `lockstep check`, so its command would not repeat them. */
function repeatedByName(id: string): (failure: Failure) => Failure {
  return (failure) => ({ ...failure, replay: `npm run test:clients -- -t ${id}` });
}

function answers(use: Use): Claim {
  return {
    id: use.id,
    suite: 'clients',
    statement: use.statement,
    routes: use.routes,
    laws: use.laws,
    deadlineMs: use.deadlineMs ?? DEADLINE_MS,
    async run(lab): Promise<Outcome> {
      if (use.repository !== undefined || use.profile !== undefined) return onServer(use, lab, [], (own) => judgedUse(use, own));
      const [missing] = use.routes.filter((r) => lab.parts.notServed.has(r));
      return missing === undefined ? judgedUse(use, lab) : notServed(lab.parts.notServed.get(missing)!);
    },
  };
}

/** The same client and the same judge on a server with a defect: its record has to show it. */
function control(use: Use): Claim {
  const { fault, law: expected } = use.control;
  return {
    id: `${use.id}-sees-${fault}`,
    suite: 'clients',
    statement: `What this client records of a server with ${fault} breaks ${expected}.`,
    routes: use.routes,
    laws: ['faults-are-found'],
    deadlineMs: use.deadlineMs ?? DEADLINE_MS,
    run: (lab) =>
      onServer(use, lab, [fault], async (own) => {
        const { n, failures } = await judgedUse(use, own);
        const { alive, detail } = await own.parts.health();
        const died = alive ? [] : [{ law: 'server-survives', code: 'server-died', text: detail }];
        const hit = [...died, ...failures].find((f) => f.law === expected && f.code !== 'not-exercised');
        if (hit !== undefined) return structural(n, 'answers judged', [], { notes: [hit.text] });
        const others = failures.map((f) => `${f.law}: ${f.text}`).join('; ');
        const text = `expected ${expected} to fail in what the client recorded; ${others === '' ? 'nothing failed' : others}`;
        return structural(n, 'answers judged', [{ law: 'faults-are-found', code: 'not-seen', text }]);
      }),
  };
}

/** Work on an embedded server of its own. */
async function onServer(use: Use, lab: Lab, faults: readonly string[], work: (own: Lab) => Promise<Outcome>): Promise<Outcome> {
  const { profile = 'default' } = use;
  using unary = use.repository === 'unary' ? unaryRepository() : undefined;
  const config = { ...toRunConfig(defaultSettings(), PACKAGE_ROOT), faults, profile, seed: lab.plan.seed };
  await using server = await startServer({ profile, faults, repository: unary?.path ?? MODEL_REPOSITORY });
  await using made = await makeLab({ config, endpoints: server.endpoints, identity: server.identity, health: server.health });
  made.lab.signal = lab.signal;
  return await work(made.lab);
}

/**
 * The uses of one client: as many as it has cheap ones, drawn from all of them by the seed of the run, with a negative control
 * on one of these; every use with its own in the full run.
 */
export function claimsOf(uses: readonly Use[]): Claim[] {
  const cheap = uses.filter((use) => use.dear !== true).length;
  const drawn = FULL ? uses : rngFrom(seed, `clients, ${uses[0]?.id}`).shuffle(uses).slice(0, cheap);
  const controlled = FULL ? uses : drawn.slice(0, 1);
  return uses
    .filter((use) => drawn.includes(use))
    .flatMap((use) => (controlled.includes(use) ? [answers(use), control(use)] : [answers(use)]));
}
