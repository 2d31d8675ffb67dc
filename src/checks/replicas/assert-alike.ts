import { compareIds, failsUnder, NO_NOISE } from '#checks/compare/index.ts';
import type { Golden } from '#checks/goldens/index.ts';
import { GREEDY, goldenStore } from '#checks/lab/goldens.ts';
import { inParallel, type Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { answerOf } from '#checks/laws/index.ts';
import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Target } from '#targets/index.ts';
import { type Asked, type Seen, type Verdict, whoDiffers } from './answers.ts';
import { assertSameIdentity } from './identity.ts';

/** Greedy requests on raw (or on the first text route, where there is no raw), fewer on each other route. */
const REQUESTS = 32;
const REQUESTS_OF_OTHER_ROUTES = 8;
const IN_FLIGHT = 4;
const MAX_TOKENS = 48;
const ROUTES_IN_ORDER: readonly RouteId[] = ['raw', 'ensemble', 'bls', 'bls-accumulate', 'llmapi', 'openai-completions', 'openai-chat'];

/** How many answers all replicas agreed on; what the header of a run says of them. */
export interface Alike {
  readonly addresses: readonly string[];
  readonly answers: number;
}

/**
 * Compares replicas: identity first, then answers, each replica asked the same greedy requests on every route that it
 * serves. The policy of the run says which differences fail.
 *
 * Errors: `replicas-differ` (which replica, where, how it is known), and those of requests.
 */
export async function assertReplicasAlike(config: RunConfig, targets: readonly Target[], signal?: AbortSignal): Promise<Alike | undefined> {
  if (targets.length < 2) return undefined;
  const addresses = targets.map(({ endpoints }) => (endpoints.grpc === '' ? (endpoints.openai ?? '') : endpoints.grpc));
  assertSameIdentity(targets.map((target, i) => ({ address: addresses[i] as string, identity: target.identity })));
  await using labs = new AsyncDisposableStack();
  const all: Lab[] = [];
  for (const target of targets) {
    const made = labs.use(await makeLab({ config, endpoints: target.endpoints, identity: target.identity, health: () => target.health() }));
    made.lab.signal = signal;
    all.push(made.lab);
  }
  const asked = await askAll(all);
  const verdict = whoDiffers(asked);
  if (verdict.differing.length > 0) throw differ(addresses, asked.length, verdict);
  return { addresses, answers: asked.length };
}

async function askAll(labs: readonly Lab[]): Promise<Asked[]> {
  const lab = labs[0] as Lab;
  const routes = lab.served(ROUTES_IN_ORDER).filter((route) => labs.every((one) => !one.parts.notServed.has(route)));
  const prompts = lab.plan.draw('replicas', REQUESTS);
  const cases = routes.flatMap((route, i) =>
    prompts
      .slice(0, i === 0 ? REQUESTS : REQUESTS_OF_OTHER_ROUTES)
      .map((p) => ({ route, request: requestOf(p, { maxTokens: MAX_TOKENS }) })),
  );
  const accepted = acceptedBy(lab);
  return inParallel(cases, IN_FLIGHT, ({ route, request }) => ask(labs, route, request, accepted));
}

type Accepted = ReadonlyMap<string, Golden>;

function acceptedBy(lab: Lab): Accepted {
  const store = goldenStore(lab.parts);
  return store.list().includes(GREEDY) ? store.load(GREEDY) : new Map();
}

async function ask(labs: readonly Lab[], route: RouteId, request: Request, accepted: Accepted): Promise<Asked> {
  const first = labs[0] as Lab;
  const transcripts = await Promise.all(labs.map((lab) => lab.observe(request, route, 'unary')));
  const seen = transcripts.map((t): Seen => ({ key: keyOf(t), golden: againstGolden(first, t, accepted) }));
  const others = transcripts.map((t, i) => [i, t] as const).filter(([i]) => seen[i]?.key !== seen[0]?.key);
  if (others.length === 0) return { what: `${request.id} on ${route}`, seen, explained: true, difference: '' };
  if (first.parts.notServed.has('raw')) {
    return {
      what: `${request.id} on ${route}`,
      seen,
      explained: false,
      difference: `${show(transcripts[0] as Transcript)} → ${show(others[0]?.[1] as Transcript)}`,
    };
  }
  const truth = await first.truthOn(request, route);
  const judged = await Promise.all(others.map(async ([, t]) => first.judge(t, truth)));
  const failing = judged.find(({ verdict }) => failsUnder(first.policy, verdict));
  return { what: `${request.id} on ${route}`, seen, explained: failing === undefined, difference: (failing ?? judged[0])?.text ?? '' };
}

/** Ids where they are served, and the text and the end everywhere; an error is an answer too. */
function keyOf(t: Transcript): string {
  return JSON.stringify([
    t.case.route === 'raw' ? Array.from(t.ids) : t.text,
    t.ending,
    t.errors.map(({ code, message }) => [code, message]),
  ]);
}

function show(t: Transcript): string {
  const [error] = t.errors;
  return error === undefined ? JSON.stringify(t.text.slice(0, 60)) : `${error.code} ${error.message}`;
}

function againstGolden(lab: Lab, t: Transcript, accepted: Accepted): Seen['golden'] {
  if (t.case.route !== 'raw') return undefined;
  const golden = accepted.get(t.case.request.id);
  if (golden === undefined || canonicalJson(golden.request) !== canonicalJson(t.case.request)) return undefined;
  const answer = answerOf(t, lab.tokenizer);
  if (answer === undefined) return 'structural';
  return compareIds(golden.answer, { ids: answer.ids, finish: answer.finish }, { tokenizer: lab.tokenizer, noise: NO_NOISE }).verdict;
}

const HOW = {
  goldens: 'by the accepted answers',
  majority: 'by the others',
  nobody: 'which of them is right, nobody can tell without goldens',
} as const;

function differ(addresses: readonly string[], n: number, verdict: Verdict): LockstepError {
  const { differing, odd, judged, by } = verdict;
  const worst = Math.max(...odd);
  const wrong = by === 'nobody' ? addresses : addresses.filter((_, i) => odd[i] === worst);
  const who = wrong.join(' and ');
  const [first] = differing;
  const counts = addresses.map((address, i) => [address, `${judged - (odd[i] as number)} of ${judged} as they should be`]);
  return new LockstepError(
    'replicas-differ',
    `${who} ${wrong.length > 1 ? 'differ' : 'differs'} in ${differing.length} of ${n} answers (${HOW[by]})`,
    {
      hint:
        by === 'nobody'
          ? 'Check each one by itself against goldens: lockstep check with one address.'
          : `Take ${who} out of service, and check it by itself.`,
      context: { first: `${first?.what}: ${first?.difference}`, ...(by === 'nobody' ? {} : Object.fromEntries(counts)) },
    },
  );
}
